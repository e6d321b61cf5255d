// SPDX-License-Identifier: Apache-2.0
// What servers really say when they refuse, word for word, and what it means. The texts were collected from running
// servers of each version; those of 7.0 and 7.2 to 8.0 differ from each other only where both are listed.
#include "redis/decide/errors.hpp"

#include <ostream>
#include <string>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/errc.hpp>
#include <gtest/gtest.h>

#include "redis/connection/stage.hpp"

namespace holdfast::redis {

void PrintTo(const Meaning& meaning, std::ostream* out) {
  constexpr const char* kFates[] = {"transient", "lasting", "denied", "ran", "unknown"};
  *out << make_error_code(meaning.code).message() << ", " << kFates[static_cast<int>(meaning.fate)];
}

namespace errors_test {
namespace {

struct Refusal {
  const char* server;
  const char* text;
  Errc code;
  Fate fate;
};

// Redis 6.2 wraps what a script runs into; 7.0 and later keep the code in front and name the script behind.
#define IN_SCRIPT_6_2 "ERR Error running script (call to f_206396248e12c6e742fd7296250433c8d7343b74): @user_script:1: "
#define BEHIND " script: 206396248e12c6e742fd7296250433c8d7343b74, on @user_script:1."

const Refusal kRefusals[] = {
    // A key of another type.
    {"any", "WRONGTYPE Operation against a key holding the wrong kind of value", Errc::wrong_type, Fate::lasting},
    {"6.2", IN_SCRIPT_6_2 "WRONGTYPE Operation against a key holding the wrong kind of value", Errc::wrong_type,
     Fate::ran},
    {"7.0 on", "WRONGTYPE Operation against a key holding the wrong kind of value" BEHIND, Errc::wrong_type, Fate::ran},

    // A replica.
    {"any", "READONLY You can't write against a read only replica.", Errc::read_only, Fate::transient},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -READONLY You can't write against a read only replica.  ", Errc::read_only,
     Fate::transient},
    {"7.0 on", "READONLY You can't write against a read only replica." BEHIND, Errc::read_only, Fate::transient},
    {"Valkey 8 on", "REDIRECT 10.0.0.2:6379", Errc::read_only, Fate::transient},
    {"7.0 on", "READONLY Can not run script with write flag on readonly replica", Errc::read_only, Fate::transient},

    // Out of memory.
    {"any", "OOM command not allowed when used memory > 'maxmemory'.", Errc::out_of_memory, Fate::lasting},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.   ",
     Errc::out_of_memory, Fate::lasting},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 16: -OOM command not allowed when used memory > 'maxmemory'.   ",
     Errc::out_of_memory, Fate::lasting},
    {"7.0 on", "OOM command not allowed when used memory > 'maxmemory'." BEHIND, Errc::out_of_memory, Fate::lasting},
    {"7.0 on", "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
     Errc::out_of_memory, Fate::lasting},

    // Who are you?
    {"any", "NOAUTH Authentication required.", Errc::denied, Fate::denied},
    {"6.2, 7.0",
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option "
     "can be used to authenticate the client and select the RESP protocol version at the same time",
     Errc::denied, Fate::denied},
    {"7.2 on",
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
     "<pass> "
     "option can be used to authenticate the client and select the RESP protocol version at the same time",
     Errc::denied, Fate::denied},
    {"any", "WRONGPASS invalid username-password pair or user is disabled.", Errc::denied, Fate::denied},
    {"any",
     "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
     "default "
     "user. In this mode connections are only accepted from the loopback interface.",
     Errc::denied, Fate::denied},
    {"Valkey",
     "DENIED Running in protected mode because protected mode is enabled and no password is set for the default user. "
     "In this mode connections are only accepted from the loopback interface.",
     Errc::denied, Fate::denied},

    // A permission that is missing, for a plain command.
    {"6.2", "NOPERM this user has no permissions to run the 'eval' command or its subcommand", Errc::denied,
     Fate::denied},
    {"7.0", "NOPERM this user has no permissions to run the 'client|kill' command", Errc::denied, Fate::denied},
    {"6.2, 7.0", "NOPERM this user has no permissions to access one of the keys used as arguments", Errc::denied,
     Fate::denied},
    {"6.2, 7.0", "NOPERM this user has no permissions to access one of the channels used as arguments", Errc::denied,
     Fate::denied},
    {"7.2 on", "NOPERM User limited has no permissions to run the 'eval' command", Errc::denied, Fate::denied},
    {"7.2 on", "NOPERM No permissions to access a key", Errc::denied, Fate::denied},
    {"7.2 on", "NOPERM No permissions to access a channel", Errc::denied, Fate::denied},

    // A permission that is missing, for a command in a script.
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: The user executing the script can't run this command or subcommand",
     Errc::denied, Fate::ran},
    {"6.2",
     IN_SCRIPT_6_2 "@user_script: 1: The user executing the script can't access at least one of the keys mentioned in "
                   "the command arguments",
     Errc::denied, Fate::ran},
    {"6.2",
     IN_SCRIPT_6_2
     "@user_script: 1: The user executing the script can't publish to the channel mentioned in the command",
     Errc::denied, Fate::ran},
    {"7.0", "ERR The user executing the script can't run this command or subcommand" BEHIND, Errc::denied, Fate::ran},
    {"7.0",
     "ERR The user executing the script can't access at least one of the keys mentioned in the command "
     "arguments" BEHIND,
     Errc::denied, Fate::ran},
    {"7.0", "ERR The user executing the script can't publish to the channel mentioned in the command" BEHIND,
     Errc::denied, Fate::ran},
    {"7.2 on", "ERR ACL failure in script: User limited has no permissions to run the 'pttl' command" BEHIND,
     Errc::denied, Fate::ran},
    {"7.2 on", "ERR ACL failure in script: No permissions to access a key" BEHIND, Errc::denied, Fate::ran},
    {"7.2 on", "ERR ACL failure in script: No permissions to access a channel" BEHIND, Errc::denied, Fate::ran},

    // Something that this server does not have.
    {"6.2", "ERR unknown command `EVALSHA`, with args beginning with: `d4c9f5`, `1`, `orders`, ",
     Errc::unsupported_by_server, Fate::lasting},
    {"7.0 on", "ERR unknown command 'EVALSHA', with args beginning with: 'd4c9f5' '1' 'orders' ",
     Errc::unsupported_by_server, Fate::lasting},
    {"before 6", "ERR unknown command `HELLO`, with args beginning with: `3`, ", Errc::unsupported_by_server,
     Fate::lasting},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: Unknown Redis command called from Lua script", Errc::unsupported_by_server,
     Fate::ran},
    {"7.0 on", "ERR Unknown Redis command called from script" BEHIND, Errc::unsupported_by_server, Fate::ran},
    {"Valkey", "ERR Unknown command called from script" BEHIND, Errc::unsupported_by_server, Fate::ran},
    {"Redict", "ERR Unknown Redict command called from script" BEHIND, Errc::unsupported_by_server, Fate::ran},
    {"any", "NOPROTO unsupported protocol version", Errc::unsupported_by_server, Fate::lasting},
    {"Valkey 9.1", "ERR Could not find scripting engine 'lua'", Errc::unsupported_by_server, Fate::lasting},

    // A mistake in the settings.
    {"any", "ERR DB index is out of range", Errc::invalid_argument, Fate::lasting},

    {"any", "ERR SELECT is not allowed in cluster mode", Errc::invalid_argument, Fate::lasting},

    // A cluster.
    {"any", "MOVED 3999 127.0.0.1:6381", Errc::server_error, Fate::transient},
    {"any", "ASK 3999 127.0.0.1:6381", Errc::server_error, Fate::transient},
    {"any", "CROSSSLOT Keys in request don't hash to the same slot", Errc::unsupported_by_server, Fate::lasting},
    {"6.0", IN_SCRIPT_6_2 "@user_script: 1: Lua script attempted to access a non local key in a cluster node",
     Errc::unsupported_by_server, Fate::ran},
    {"7.0 on", "ERR Script attempted to access a non local key in a cluster node" BEHIND, Errc::unsupported_by_server,
     Fate::ran},
    {"Valkey 9.1", "ERR Attempted to access a non local key in a cluster node script: on @user_script:1.",
     Errc::unsupported_by_server, Fate::ran},
    {"7.0 on", "ERR Script attempted to access keys that do not hash to the same slot" BEHIND,
     Errc::unsupported_by_server, Fate::ran},
    {"Redis 8.0 on, Valkey 8",
     "ERR Unable to execute command 'exists' in script because undeclared keys were accessed during rehashing of the "
     "slot" BEHIND,
     Errc::unsupported_by_server, Fate::ran},
    {"8.0 on", "ERR Command 'mget' in script attempted to access keys that don't hash to the same slot" BEHIND,
     Errc::unsupported_by_server, Fate::ran},
    {"any", "ERR This instance has cluster support disabled", Errc::unsupported_by_server, Fate::lasting},

    // It will be well again.
    {"Redis", "LOADING Redis is loading the dataset in memory", Errc::server_error, Fate::transient},
    {"Valkey", "LOADING Valkey is loading the dataset in memory", Errc::server_error, Fate::transient},
    {"Redis", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Errc::server_error, Fate::transient},
    {"Valkey", "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Errc::server_error, Fate::transient},
    {"7.0 on", "BUSY Redis is busy running a module command.", Errc::server_error, Fate::transient},
    {"any", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", Errc::server_error,
     Fate::transient},
    {"any", "NOREPLICAS Not enough good replicas to write.", Errc::server_error, Fate::transient},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -NOREPLICAS Not enough good replicas to write.  ", Errc::server_error,
     Fate::transient},
    {"7.0 on", "NOREPLICAS Not enough good replicas to write." BEHIND, Errc::server_error, Fate::transient},
    {"any", "CLUSTERDOWN The cluster is down", Errc::server_error, Fate::transient},
    {"any", "CLUSTERDOWN Hash slot not served", Errc::server_error, Fate::transient},
    {"any", "TRYAGAIN Multiple keys request during rehashing of slot", Errc::server_error, Fate::transient},
    {"any", "ERR max number of clients reached", Errc::server_error, Fate::transient},

    {"Redis",
     "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that "
     "may modify the data set are disabled, because this instance is configured to report errors during writes if RDB "
     "snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB "
     "error.",
     Errc::server_error, Fate::transient},
    {"Valkey", "MISCONF Valkey is configured to persist data to AOF, but it's currently unable to persist to disk.",
     Errc::server_error, Fate::transient},
    {"6.2", IN_SCRIPT_6_2 "@user_script: 1: -MISCONF Errors writing to the AOF file: No space left on device  ",
     Errc::server_error, Fate::transient},
    {"any", "MISCONF Errors writing to the AOF file: No space left on device", Errc::server_error, Fate::transient},
    {"7.0 on", "MASTERDOWN Link with MASTER is down, and replica-serve-stale-data is set to 'no'.", Errc::server_error,
     Fate::transient},
    {"7.0 on", "ERR Can not execute the command on a stale replica" BEHIND, Errc::server_error, Fate::transient},
    {"any",
     "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
     "configured to be writable (which is not the default) writes to replicas are just local and are not "
     "propagated.",
     Errc::read_only, Fate::transient},
    {"7.2 on", "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
     Errc::unsupported_by_server, Fate::lasting},
    {"7.0", "ERR unknown command 'WAITAOF', with args beginning with: '1' '0' '1000' ", Errc::unsupported_by_server,
     Fate::lasting},
    {"7.0 on", "ERR Script attempted to execute a write command while the cluster is down and readonly" BEHIND,
     Errc::server_error, Fate::transient},
    {"Redis", "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
     Errc::server_error, Fate::transient},
    {"Valkey", "UNBLOCKED force unblock from blocking operation, instance state changed (primary -> replica?)",
     Errc::server_error, Fate::transient},
    {"any", "ERR max number of clients + cluster connections reached", Errc::server_error, Fate::transient},

    // Anything else.
    {"any", "ERR value is not an integer or out of range", Errc::server_error, Fate::lasting},
    {"any", "ERR syntax error", Errc::server_error, Fate::lasting},
    {"any", "BUSYKEY Target key name already exists.", Errc::server_error, Fate::lasting},
    {"any", "NOSCRIPT No matching script. Please use EVAL.", Errc::server_error, Fate::transient},
    {"Valkey", "NOSCRIPT No matching script.", Errc::server_error, Fate::transient},
    {"any", "EXECABORT Transaction discarded because of previous errors.", Errc::server_error, Fate::lasting},
    {"any",
     "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
     "termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
     Errc::server_error, Fate::lasting},
    {"any", "ERR Protocol error: invalid multibulk length", Errc::server_error, Fate::lasting},
    {"any", "ERR Error compiling script (new function): user_script:1: '=' expected near 'is' ", Errc::server_error,
     Fate::lasting},
    {"6.2", IN_SCRIPT_6_2 "user_script:1: boom", Errc::server_error, Fate::ran},
    {"7.0 on", "ERR user_script:1: boom" BEHIND, Errc::server_error, Fate::ran},
    {"7.0 on", "ERR Script killed by user with SCRIPT KILL..." BEHIND, Errc::server_error, Fate::ran},
    {"6.2", IN_SCRIPT_6_2 "Script killed by user with SCRIPT KILL...", Errc::server_error, Fate::ran},
    {"any",
     "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
     "configuration is correct?",
     Errc::server_error, Fate::lasting},
};

TEST(ServerError, MeansWhatItsWordsSay) {
  for (const Refusal& refusal : kRefusals) {
    EXPECT_EQ(classify(refusal.text), (Meaning{refusal.code, refusal.fate}))
        << "Redis " << refusal.server << ": " << refusal.text;
  }
}

TEST(ServerError, IsTakenByItsFirstWordNotByOneThatContainsIt) {
  const Meaning anything{Errc::server_error, Fate::lasting};
  for (const char* text : {"OOMPH", "ERR OOM", "LOADINGS", "ERR LOADING", "BUSYKEY", "ASKING"}) {
    EXPECT_EQ(classify(text), anything) << text;
  }
  EXPECT_EQ(classify(IN_SCRIPT_6_2 "WRONGTYPES"), (Meaning{Errc::server_error, Fate::ran}));
}

TEST(ServerError, IsUnderstoodWithoutAnExplanation) {
  EXPECT_EQ(classify("OOM"), (Meaning{Errc::out_of_memory, Fate::lasting}));
  EXPECT_EQ(classify(IN_SCRIPT_6_2 "-WRONGTYPE"), (Meaning{Errc::wrong_type, Fate::ran}));
  EXPECT_EQ(classify("LOADING"), (Meaning{Errc::server_error, Fate::transient}));
}

TEST(ServerError, OfNoKnownShapeIsJustAnError) {
  for (const char* text : {"", " ", ":", "-", "ERR", "ERR "}) {
    EXPECT_EQ(classify(text), (Meaning{Errc::server_error, Fate::lasting})) << text;
    EXPECT_EQ(classify_script(text), (Meaning{Errc::server_error, Fate::ran})) << "perhaps halfway: " << text;
  }
  for (const char* text : {"@user_script", "@user_script:", "@user_script:1: ", "@user_script:1: -",
                           "ERR @user_script:1: @user_script: 2: @user_script"}) {
    EXPECT_EQ(classify(text), (Meaning{Errc::server_error, Fate::ran})) << text;
  }
}

TEST(ServerError, IsNotMisledByTheArgumentsThatItRepeats) {
  const Meaning missing{Errc::unsupported_by_server, Fate::lasting};
  for (const char* name : {"DB index is out of range", "has no permissions to", "@user_script:1: OOM",
                           "ACL failure in script", "max number of clients"}) {
    const std::string text =
        "ERR unknown command 'EVALSHA', with args beginning with: 'd4c9f5' '1' '" + std::string(name) + "' ";
    EXPECT_EQ(classify(text), missing) << text;
    EXPECT_EQ(explain(text),
              "ERR unknown command 'EVALSHA' (a Sentinel has no scripts: if this is one, its URL begins with "
              "redis+sentinel:// and ends with the primary's name)");
  }
}

TEST(ServerError, IsExplainedWhereItsWordsAreForInsiders) {
  EXPECT_EQ(explain("MOVED 3999 127.0.0.1:6381"),
            "MOVED 3999 127.0.0.1:6381 (another node of the cluster serves it; the URL of a cluster begins with "
            "redis+cluster://)");
  EXPECT_EQ(explain("CROSSSLOT Keys in request don't hash to the same slot"),
            "CROSSSLOT Keys in request don't hash to the same slot (in a cluster, names for one command share a hash "
            "tag, as {orders}.1 and {orders}.2 do)");
  EXPECT_EQ(explain("ERR This instance has cluster support disabled"),
            "ERR This instance has cluster support disabled (not a cluster: its URL begins with redis:// or "
            "rediss://)");
  EXPECT_EQ(explain("ERR SELECT is not allowed in cluster mode"),
            "ERR SELECT is not allowed in cluster mode (a cluster has database 0 only, unless its cluster-databases "
            "(Valkey 9) says more)");
  EXPECT_EQ(explain("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 's3cret' "),
            "ERR unknown command 'HELLO' (Redis 6 or later is needed)");
  EXPECT_EQ(explain("WRONGPASS invalid username-password pair or user is disabled."),
            "WRONGPASS invalid username-password pair or user is disabled.");
}

TEST(ServerError, RefusesTheCommandOrOnlyItsArguments) {
  for (const char* text : {"NOPERM this user has no permissions to run the 'subscribe' command or its subcommand",
                           "NOPERM User limited has no permissions to run the 'subscribe' command",
                           "ERR unknown command 'SUBSCRIBE', with args beginning with: 'x' "}) {
    EXPECT_TRUE(refuses_command(text)) << text;
  }
  for (const char* text : {"NOPERM this user has no permissions to access one of the channels used as arguments",
                           "NOPERM No permissions to access a channel", "BUSY Redis is busy running a script."}) {
    EXPECT_FALSE(refuses_command(text)) << text;
  }
}

TEST(ServerError, IsForGoodIfNeitherTimeNorARepetitionHelps) {
  EXPECT_TRUE((Meaning{Errc::server_error, Fate::lasting}).for_good());
  EXPECT_TRUE((Meaning{Errc::denied, Fate::denied}).for_good());
  EXPECT_FALSE((Meaning{Errc::server_error, Fate::transient}).for_good());
  EXPECT_FALSE((Meaning{Errc::unknown_outcome, Fate::unknown}).for_good());
  EXPECT_FALSE((Meaning{Errc::server_error, Fate::ran}).for_good());
}

TEST(ServerError, MayPassIfTimeHelpsOrMemoryIsFreed) {
  EXPECT_TRUE((Meaning{Errc::server_error, Fate::transient}).may_pass());
  EXPECT_TRUE((Meaning{Errc::unknown_outcome, Fate::unknown}).may_pass());
  EXPECT_TRUE((Meaning{Errc::out_of_memory, Fate::lasting}).may_pass());
  EXPECT_FALSE((Meaning{Errc::server_error, Fate::lasting}).may_pass());
  EXPECT_FALSE((Meaning{Errc::denied, Fate::denied}).may_pass());
  EXPECT_FALSE((Meaning{Errc::server_error, Fate::ran}).may_pass());
}

// --- connections ---

namespace asio = boost::asio;
using boost::system::error_code;

error_code of_tls(int reason) {
  return {static_cast<int>(ERR_PACK(ERR_LIB_SSL, 0, reason)), asio::error::get_ssl_category()};
}

const struct {
  const char* what;
  Stage stage;
  error_code error;
  Meaning meaning;
} kEnds[] = {
    {"no such host", Stage::look_up, asio::error::host_not_found, {Errc::unreachable, Fate::transient}},
    {"no name server", Stage::look_up, asio::error::host_not_found_try_again, {Errc::unreachable, Fate::transient}},
    {"no address", Stage::look_up, asio::error::no_data, {Errc::unreachable, Fate::transient}},
    {"name server is silent", Stage::look_up, asio::error::timed_out, {Errc::unreachable, Fate::transient}},

    {"refused", Stage::connect, asio::error::connection_refused, {Errc::unreachable, Fate::transient}},
    {"no answer", Stage::connect, asio::error::timed_out, {Errc::unreachable, Fate::transient}},
    {"reset", Stage::connect, asio::error::connection_reset, {Errc::unreachable, Fate::transient}},
    {"no route", Stage::connect, asio::error::host_unreachable, {Errc::unreachable, Fate::transient}},
    {"no such socket",
     Stage::connect,
     error_code(ENOENT, boost::system::system_category()),
     {Errc::unreachable, Fate::transient}},

    {"not trusted", Stage::handshake, of_tls(SSL_R_CERTIFICATE_VERIFY_FAILED), {Errc::tls, Fate::lasting}},
    {"an alert", Stage::handshake, of_tls(SSL_R_TLSV1_ALERT_UNKNOWN_CA), {Errc::tls, Fate::lasting}},
    {"no TLS", Stage::handshake, of_tls(SSL_R_WRONG_VERSION_NUMBER), {Errc::tls, Fate::lasting}},
    {"no answer", Stage::handshake, asio::error::timed_out, {Errc::unreachable, Fate::transient}},
    {"reset", Stage::handshake, asio::error::connection_reset, {Errc::unreachable, Fate::transient}},
    {"closed", Stage::handshake, asio::error::eof, {Errc::unreachable, Fate::transient}},
    {"closed", Stage::handshake, asio::ssl::error::stream_truncated, {Errc::unreachable, Fate::transient}},
    {"closed", Stage::handshake, of_tls(SSL_R_UNEXPECTED_EOF_WHILE_READING), {Errc::unreachable, Fate::transient}},

    // In TLS 1.3 the server refuses our certificate when we believe to be through.
    {"an alert", Stage::login, of_tls(SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED), {Errc::tls, Fate::lasting}},
    {"no answer", Stage::login, asio::error::timed_out, {Errc::unreachable, Fate::transient}},
    {"closed", Stage::login, asio::error::eof, {Errc::unreachable, Fate::transient}},
    {"closed", Stage::login, asio::ssl::error::stream_truncated, {Errc::unreachable, Fate::transient}},
    {"no RESP",
     Stage::login,
     make_error_code(boost::system::errc::bad_message),
     {Errc::unsupported_by_server, Fate::lasting}},
    // What has stood may stand again, whatever ended it.
    {"reset", Stage::ready, asio::error::connection_reset, {Errc::unreachable, Fate::transient}},
    {"silent", Stage::ready, asio::error::timed_out, {Errc::unreachable, Fate::transient}},
    {"damaged", Stage::ready, of_tls(SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC), {Errc::unreachable, Fate::transient}},
    {"no RESP", Stage::ready, make_error_code(boost::system::errc::bad_message), {Errc::unreachable, Fate::transient}},
};

TEST(ConnectionsEnd, MeansWhatItWasAndHowFarItHadCome) {
  for (const auto& end : kEnds) {
    EXPECT_EQ(classify(end.stage, end.error), end.meaning) << end.what << ": " << end.error.message();
  }
}

TEST(Errors, KnowsAServerThatIsAReplicaByNow) {
  for (const char* text :
       {"READONLY You can't write against a read only replica.", "REDIRECT 10.0.0.2:6379",
        "ERR Error running script (call to f_1): @user_script:6: @user_script: 6: -READONLY You can't write",
        "READONLY You can't write against a read only replica. script: 1, on @user_script:3.",
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."}) {
    EXPECT_TRUE(is_demoted(text)) << text;
  }
  for (const char* text : {"LOADING Redis is loading", "ERR READONLY", "NOREPLICAS Not enough", "WRONGTYPE READONLY"}) {
    EXPECT_FALSE(is_demoted(text)) << text;
  }
}

}  // namespace
}  // namespace errors_test
}  // namespace holdfast::redis
