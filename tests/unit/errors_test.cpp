// What servers really say when they refuse, word for word, and what it means. The texts were collected from running
// servers of each version; those of 7.0 and 7.2 to 8.0 differ from each other only where both are listed.
#include "redis/errors.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast {

void PrintTo(Errc error, std::ostream* out) { *out << make_error_code(error).message(); }

namespace redis {
namespace {

enum class Passes { no, yes };

struct Refusal {
  const char* server;
  const char* text;
  Errc meaning;
  Passes passes = Passes::no;
};

// Redis 6.2 wraps what a script runs into; 7.0 and later keep the code in front and name the script behind.
#define IN_SCRIPT_6_2 "ERR Error running script (call to f_206396248e12c6e742fd7296250433c8d7343b74): @user_script:1: "
#define BEHIND " script: 206396248e12c6e742fd7296250433c8d7343b74, on @user_script:1."

const Refusal kRefusals[] = {
    // A key of another type.
    {"any", "WRONGTYPE Operation against a key holding the wrong kind of value", Errc::wrong_type},
    {"6.2", IN_SCRIPT_6_2 "WRONGTYPE Operation against a key holding the wrong kind of value", Errc::wrong_type},
    {"7.0 on", "WRONGTYPE Operation against a key holding the wrong kind of value" BEHIND, Errc::wrong_type},

    // A replica.
    {"any", "READONLY You can't write against a read only replica.", Errc::read_only},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -READONLY You can't write against a read only replica.  ", Errc::read_only},
    {"7.0 on", "READONLY You can't write against a read only replica." BEHIND, Errc::read_only},
    {"7.0 on", "READONLY Can not run script with write flag on readonly replica", Errc::read_only},

    // Out of memory.
    {"any", "OOM command not allowed when used memory > 'maxmemory'.", Errc::out_of_memory},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.   ",
     Errc::out_of_memory},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 16: -OOM command not allowed when used memory > 'maxmemory'.   ",
     Errc::out_of_memory},
    {"7.0 on", "OOM command not allowed when used memory > 'maxmemory'." BEHIND, Errc::out_of_memory},
    {"7.0 on", "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
     Errc::out_of_memory},

    // Who are you?
    {"any", "NOAUTH Authentication required.", Errc::denied},
    {"6.2, 7.0",
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option "
     "can be used to authenticate the client and select the RESP protocol version at the same time",
     Errc::denied},
    {"7.2 on",
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
     "<pass> "
     "option can be used to authenticate the client and select the RESP protocol version at the same time",
     Errc::denied},
    {"any", "WRONGPASS invalid username-password pair or user is disabled.", Errc::denied},
    {"any",
     "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
     "default "
     "user. In this mode connections are only accepted from the loopback interface.",
     Errc::denied},
    {"Valkey",
     "DENIED Running in protected mode because protected mode is enabled and no password is set for the default user. "
     "In this mode connections are only accepted from the loopback interface.",
     Errc::denied},

    // A permission that is missing, for a plain command.
    {"6.2", "NOPERM this user has no permissions to run the 'eval' command or its subcommand", Errc::denied},
    {"7.0", "NOPERM this user has no permissions to run the 'client|kill' command", Errc::denied},
    {"6.2, 7.0", "NOPERM this user has no permissions to access one of the keys used as arguments", Errc::denied},
    {"6.2, 7.0", "NOPERM this user has no permissions to access one of the channels used as arguments", Errc::denied},
    {"7.2 on", "NOPERM User limited has no permissions to run the 'eval' command", Errc::denied},
    {"7.2 on", "NOPERM No permissions to access a key", Errc::denied},
    {"7.2 on", "NOPERM No permissions to access a channel", Errc::denied},

    // A permission that is missing, for a command in a script.
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: The user executing the script can't run this command or subcommand",
     Errc::denied},
    {"6.2",
     IN_SCRIPT_6_2 "@user_script: 1: The user executing the script can't access at least one of the keys mentioned in "
                   "the command arguments",
     Errc::denied},
    {"6.2",
     IN_SCRIPT_6_2
     "@user_script: 1: The user executing the script can't publish to the channel mentioned in the command",
     Errc::denied},
    {"7.0", "ERR The user executing the script can't run this command or subcommand" BEHIND, Errc::denied},
    {"7.0",
     "ERR The user executing the script can't access at least one of the keys mentioned in the command "
     "arguments" BEHIND,
     Errc::denied},
    {"7.0", "ERR The user executing the script can't publish to the channel mentioned in the command" BEHIND,
     Errc::denied},
    {"7.2 on", "ERR ACL failure in script: User limited has no permissions to run the 'pttl' command" BEHIND,
     Errc::denied},
    {"7.2 on", "ERR ACL failure in script: No permissions to access a key" BEHIND, Errc::denied},
    {"7.2 on", "ERR ACL failure in script: No permissions to access a channel" BEHIND, Errc::denied},

    // Something that this server does not have.
    {"6.2", "ERR unknown command `EVALSHA`, with args beginning with: `d4c9f5`, `1`, `orders`, ",
     Errc::unsupported_by_server},
    {"7.0 on", "ERR unknown command 'EVALSHA', with args beginning with: 'd4c9f5' '1' 'orders' ",
     Errc::unsupported_by_server},
    {"before 6", "ERR unknown command `HELLO`, with args beginning with: `3`, ", Errc::unsupported_by_server},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: Unknown Redis command called from Lua script", Errc::unsupported_by_server},
    {"7.0 on", "ERR Unknown Redis command called from script" BEHIND, Errc::unsupported_by_server},
    {"Valkey", "ERR Unknown command called from script" BEHIND, Errc::unsupported_by_server},
    {"any", "NOPROTO unsupported protocol version", Errc::unsupported_by_server},

    // A mistake in the settings.
    {"any", "ERR DB index is out of range", Errc::invalid_argument},

    // It will be well again.
    {"Redis", "LOADING Redis is loading the dataset in memory", Errc::server_error, Passes::yes},
    {"Valkey", "LOADING Valkey is loading the dataset in memory", Errc::server_error, Passes::yes},
    {"Redis", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Errc::server_error, Passes::yes},
    {"Valkey", "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Errc::server_error, Passes::yes},
    {"7.0 on", "BUSY Redis is busy running a module command.", Errc::server_error, Passes::yes},
    {"any", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", Errc::server_error,
     Passes::yes},
    {"any", "NOREPLICAS Not enough good replicas to write.", Errc::server_error, Passes::yes},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -NOREPLICAS Not enough good replicas to write.  ", Errc::server_error,
     Passes::yes},
    {"7.0 on", "NOREPLICAS Not enough good replicas to write." BEHIND, Errc::server_error, Passes::yes},
    {"any", "CLUSTERDOWN The cluster is down", Errc::server_error, Passes::yes},
    {"any", "CLUSTERDOWN Hash slot not served", Errc::server_error, Passes::yes},
    {"any", "TRYAGAIN Multiple keys request during rehashing of slot", Errc::server_error, Passes::yes},
    {"any", "ERR max number of clients reached", Errc::server_error, Passes::yes},

    // Anything else.
    {"any", "ERR value is not an integer or out of range", Errc::server_error},
    {"any", "ERR syntax error", Errc::server_error},
    {"any", "BUSYKEY Target key name already exists.", Errc::server_error},
    {"any", "NOSCRIPT No matching script. Please use EVAL.", Errc::server_error},
    {"Valkey", "NOSCRIPT No matching script.", Errc::server_error},
    {"6.2", IN_SCRIPT_6_2 "user_script:1: boom", Errc::server_error},
    {"7.0 on", "ERR user_script:1: boom" BEHIND, Errc::server_error},
    {"7.0 on", "ERR Script killed by user with SCRIPT KILL..." BEHIND, Errc::server_error},
    {"6.2", IN_SCRIPT_6_2 "Script killed by user with SCRIPT KILL...", Errc::server_error},
    {"any",
     "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
     "configuration is correct?",
     Errc::server_error},
};

TEST(ServerError, MeansWhatItsWordsSay) {
  for (const Refusal& refusal : kRefusals) {
    EXPECT_EQ(classify(refusal.text), refusal.meaning) << "Redis " << refusal.server << ": " << refusal.text;
  }
}

TEST(ServerError, IsTransientOnlyIfItGoesAwayByItself) {
  for (const Refusal& refusal : kRefusals) {
    EXPECT_EQ(is_transient(refusal.text), refusal.passes == Passes::yes)
        << "Redis " << refusal.server << ": " << refusal.text;
  }
}

TEST(ServerError, IsTakenByItsFirstWordNotByOneThatContainsIt) {
  EXPECT_EQ(classify("OOMPH"), Errc::server_error);
  EXPECT_EQ(classify("ERR OOM"), Errc::server_error);
  EXPECT_FALSE(is_transient("LOADINGS"));
  EXPECT_FALSE(is_transient("ERR LOADING"));
  EXPECT_EQ(classify(IN_SCRIPT_6_2 "WRONGTYPES"), Errc::server_error);
}

TEST(ServerError, IsUnderstoodWithoutAnExplanation) {
  EXPECT_EQ(classify("OOM"), Errc::out_of_memory);
  EXPECT_EQ(classify(IN_SCRIPT_6_2 "-WRONGTYPE"), Errc::wrong_type);
  EXPECT_TRUE(is_transient("LOADING"));
}

TEST(ServerError, OfNoKnownShapeIsJustAnError) {
  for (const char* text : {"", " ", ":", "@user_script", "@user_script:", "@user_script:1: ", "-", "@user_script:1: -",
                           "ERR @user_script:1: @user_script: 2: @user_script"}) {
    EXPECT_EQ(classify(text), Errc::server_error) << text;
    EXPECT_FALSE(is_transient(text)) << text;
  }
}

}  // namespace
}  // namespace redis
}  // namespace holdfast
