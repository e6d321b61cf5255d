// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what people see, what programs read, and the exit codes.
#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/terminals.hpp"

namespace holdfast::test::doctor_test {
namespace {

namespace json = boost::json;

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPassword = "s3cret-word";

class Doctor : public CliTest {
 protected:
  Doctor() : CliTest({.listen = ServerOptions::Listen::tcp, .password = kPassword, .persistent = true}) {}

  Outcome doctor(std::vector<std::string> args = {}, std::vector<std::string> env = {}) const {
    args.insert(args.begin(), "doctor");
    env.insert(env.begin(), std::string("HOLDFAST_PASSWORD=") + kPassword);
    return use(std::move(args), std::move(env));
  }
  static std::string text(const json::value& value) { return json::value_to<std::string>(value); }
  /// The severity of the first finding with this id; empty if there is none.
  static std::string severity(const json::value& report, std::string_view id) {
    for (const json::value& finding : report.at("findings").as_array()) {
      if (text(finding.at("id")) == id) return text(finding.at("severity"));
    }
    return "";
  }
};

TEST_F(Doctor, AHealthyServerIsZero) {
  const Outcome outcome = doctor();
  EXPECT_EQ(outcome.status, exited(0)) << outcome.out;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("NODE"), HasSubstr("\nok       connection, version, "), HasSubstr(" role, permissions"),
                    HasSubstr("\n0 danger, 0 warning, "), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(doctor({"-v"}).out, HasSubstr("ok       eviction        nothing is evicted (noeviction)\n"));
  const Outcome quiet = doctor({"-q"});
  EXPECT_EQ(quiet.status, exited(0));
  EXPECT_THAT(quiet.out, IsEmpty());
}

TEST_F(Doctor, StrictCountsNotes) {
  raw_.command("SET", "redisson_unlock_latch:x", 1);
  EXPECT_EQ(doctor().status, exited(0));
  EXPECT_EQ(doctor({"--strict"}).status, exited(1));
}

TEST_F(Doctor, FailsOnWhatIsAskedFor) {
  raw_.command("HSET", "job", kSomebody, 1);  // a lock without expiry: a warning
  EXPECT_EQ(doctor().status, exited(1));
  EXPECT_EQ(doctor({"--fail-on", "warning"}).status, exited(1));
  EXPECT_EQ(doctor({"--fail-on", "danger"}).status, exited(0));
  raw_.command("DEL", "job");
  EXPECT_EQ(doctor({"--fail-on", "warning"}).status, exited(0));
  raw_.command("SET", "redisson_unlock_latch:x", 1);
  EXPECT_EQ(doctor({"--fail-on", "note"}).status, exited(1));
  EXPECT_EQ(doctor({"--fail-on", "frob"}).status, exited(64));
  EXPECT_EQ(doctor({"--strict", "--fail-on", "danger"}).status, exited(64));
}

TEST_F(Doctor, AWarningAndADangerAreOne) {
  raw_.command("HSET", "job", kSomebody, 1);
  Outcome outcome = doctor({"-q"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, AllOf(StartsWith("warning  eternal_locks   1 lock without expiry among 1 key: \"job\"\n"),
                                 HasSubstr("-> nobody's lease ends them"), Not(HasSubstr("NODE"))));
  raw_.command("CONFIG", "SET", "maxmemory", "100mb");
  raw_.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  outcome = doctor({"-q"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, StartsWith("danger   eviction"));
  for (std::size_t begin = 0, end = 0; begin < outcome.out.size(); begin = end + 1) {
    end = outcome.out.find('\n', begin);
    EXPECT_LE(end - begin, 110U);
  }
}

TEST_F(Doctor, Json) {
  raw_.command("HSET", "\xff", kSomebody, 1);
  const Outcome outcome = doctor({"--json"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
  const json::value report = json::parse(outcome.out);
  EXPECT_EQ(text(report.at("worst")), "warning");
  const json::value& node = report.at("nodes").at(0);
  EXPECT_EQ(text(node.at("part")), "server");
  EXPECT_TRUE(node.at("answered").as_bool());
  EXPECT_EQ(text(node.at("role")), "master");
  EXPECT_EQ(text(node.at("keeps")), "all");
  EXPECT_EQ(text(node.at("address")), "127.0.0.1:" + std::to_string(server_.port()));
  EXPECT_TRUE(node.at("round_trip_p99_us").is_int64());
  EXPECT_TRUE(node.at("clock_ahead_us").is_int64());
  EXPECT_EQ(text(report.at("findings").at(0).at("id")), "eternal_locks");
  EXPECT_EQ(severity(report, "permissions"), "ok");
}

TEST_F(Doctor, TryTakesALockAndGivesItBack) {
  Outcome outcome = doctor({"--try", "job", "-v"});
  EXPECT_EQ(outcome.status, exited(0)) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("ok       try             lock \"job\" was taken, waited for, and given back\n"));
  EXPECT_FALSE(raw_.exists("job"));

  hold("job");
  outcome = doctor({"--try", "job", "-q"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("warning  try             lock \"job\" is busy, so it was not tried: held by"),
                    HasSubstr(" " + kSomebody + "\n")));
  EXPECT_EQ(owner_of("job"), kSomebody);
  EXPECT_EQ(doctor({"--try", ""}).status, exited(64));
}

TEST_F(Doctor, AUserWhoCanTakeNoLockDoesNotPass) {
  raw_.command("ACL", "SETUSER", "app", "on", ">pw", "~lock:*", "+evalsha", "+eval", "+pttl", "+hexists", "+ping");
  url_ = server_.url("app", "pw");
  Outcome outcome = doctor({"-q"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, HasSubstr("untried"));
  outcome = doctor({"-q", "--try", "lock:x"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("danger   try             lock \"lock:x\" could not be taken: "), HasSubstr("HSET")));
  EXPECT_FALSE(raw_.exists("lock:x"));

  // It can take it, and waits in vain.
  raw_.command("ACL", "SETUSER", "app", "+hset", "+pexpire", "+hdel", "+publish");
  raw_.command("ACL", "SETUSER", "app",
               "&redisson_lock__channel:{lock:*}");  // refused by Redis 6.0, where nobody needs it
  outcome = doctor({"-q", "--try", "lock:x"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, HasSubstr("lock \"lock:x\" could not be waited for"));

  // Names are not looked at unless one is tried.
  raw_.command("ACL", "SETUSER", "app", "+subscribe", "+unsubscribe");
  EXPECT_THAT(doctor({"-q"}).out, HasSubstr("warning  untried"));
  outcome = doctor({"-q", "--try", "lock:x"});
  EXPECT_EQ(outcome.status, exited(0)) << outcome.out;
  EXPECT_EQ(doctor({"-q", "--try", "job"}).status, exited(1)) << "a name that is not permitted";
}

TEST_F(Doctor, NobodyThere) {
  server_.kill();
  Outcome outcome = doctor();
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.out, HasSubstr("danger   connection      cannot reach the server"));
  outcome = doctor({"--json"});
  EXPECT_EQ(outcome.status, exited(69));
  const json::value report = json::parse(outcome.out);
  EXPECT_FALSE(report.at("nodes").at(0).at("answered").as_bool());
  EXPECT_EQ(severity(report, "connection"), "danger");
}

TEST_F(Doctor, NoPasswordIsShown) {
  for (const char* password : {kPassword, "an0ther-word"}) {
    for (const std::vector<std::string>& args : {std::vector<std::string>{}, {"--json"}, {"-v"}}) {
      const Outcome outcome = doctor(args, {std::string("HOLDFAST_PASSWORD=") + password});
      EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("-word")));
    }
  }
  EXPECT_EQ(doctor({}, {"HOLDFAST_PASSWORD=an0ther-word"}).status, exited(69));
}

TEST_F(Doctor, SeveralServers) {
  const RedisServer other({.password = kPassword});
  const Outcome outcome =
      doctor({"--url", server_.url(), "--url", "unix://" + server_.socket_path(), "--url", other.url()});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\ntogether\ndanger   same_server"), HasSubstr("are the same server"),
                                 HasSubstr("\n" + other.socket_path() + "\n")));
  const json::value report = json::parse(doctor({"--json", "--url", server_.url(), "--url", other.url()}).out);
  EXPECT_EQ(severity(report, "same_server"), "ok");
  EXPECT_EQ(severity(report, "restart"), "warning") << "the other one keeps nothing";
  EXPECT_EQ(report.at("nodes").as_array().size(), 2U);
}

TEST_F(Doctor, OneOfSeveralIsDown) {
  RedisServer other({.password = kPassword});
  other.kill();
  const Outcome outcome = doctor({"--url", server_.url(), "--url", other.url()});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.out, HasSubstr("no answer"));
}

TEST_F(Doctor, ColoursOnATerminalOnly) {
  if (const auto why = why_no_terminal()) GTEST_SKIP() << *why;
  raw_.command("HSET", "job", kSomebody, 1);
  const auto on_terminal = [&](const std::string& settings) {
    Process process = start_shell("exec script -qefc '" + settings + " HOLDFAST_PASSWORD=" + kPassword +
                                  " \"$tool\" doctor' /dev/null");
    const Outcome outcome = finish(process);
    EXPECT_EQ(outcome.status, exited(1));
    return outcome.out;
  };
  EXPECT_THAT(on_terminal(""), HasSubstr("\x1b[33mwarning\x1b[0m  eternal_locks"));
  EXPECT_THAT(on_terminal("NO_COLOR=1"), AllOf(HasSubstr("warning  eternal_locks"), Not(HasSubstr("\x1b"))));
}

TEST_F(Doctor, WrongUse) {
  const Outcome outcome = doctor({"job"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.err, "holdfast: doctor: one argument too many: job\n");
}

}  // namespace
}  // namespace holdfast::test::doctor_test
