// SPDX-License-Identifier: Apache-2.0
// `holdfast ls --kind` and `inspect` of what is no plain lock: who reads and writes, who has a permit, what is counted.
#include "cli_fixture.hpp"

namespace holdfast::test::ls_kinds_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class LsKinds : public CliTest {
 protected:
  Process hold_by(std::vector<std::string> options, const std::string& name) {
    options.insert(options.begin(), "run");
    for (const char* each : {"--", "sh", "-c", "echo started; read line; true"}) options.emplace_back(each);
    options.insert(options.end() - 4, name);
    Process process = start(options);
    EXPECT_EQ(process.read_line(), "started") << process.errors();
    return process;
  }
  Outcome ls(const std::string& kind, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"ls", "--kind", kind});
    return use(more);
  }
  /// What is no such thing: of every type, and a lock of each other kind.
  void put_others() {
    raw_.command("HSET", "a-hash", "mode", "fast");
    raw_.command("HSET", "large", "mode", "read", "b", "c", "d", "e");
    raw_.command("SET", "text", "hello");
    raw_.command("RPUSH", "list", "1");
    raw_.command("ZADD", "{text}:timeout", "1", "x");
    hold("plain");
  }
};

TEST_F(LsKinds, EachReaderHasARow) {
  put_others();
  EXPECT_THAT(ls("read-write").out, Not(HasSubstr("a-hash")));
  Process first = hold_by({"--shared"}, "table"), second = hold_by({"--shared"}, "table");
  Process writer = hold_by({"--kind", "read-write"}, "index");
  const Outcome outcome = ls("read-write");
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, MatchesRegex("NAME +OWNER +MODE +TTL +WAITING +HOLDER\n"
                                        "index +[0-9a-f-]{36}:[0-9]+ +writer .*process [0-9]+, label sh\n"
                                        "table +[0-9a-f-]{36}:[0-9]+ +reader .*process [0-9]+, label sh\n"
                                        "table +[0-9a-f-]{36}:[0-9]+ +reader .*process [0-9]+, label sh\n"));
  EXPECT_EQ(ls("read-write", {"-q"}).out, "index\ntable\n");
  EXPECT_THAT(ls("read-write", {"--json", "tab*"}).out,
              AllOf(HasSubstr("\"name\":\"table\""), HasSubstr("\"mode\":\"shared\""), Not(HasSubstr("index"))));
  EXPECT_THAT(ls("lock").out, AllOf(HasSubstr("plain"), Not(HasSubstr("table"))));
  for (Process* each : {&first, &second, &writer}) {
    each->close_stdin();
    EXPECT_EQ(each->finish(), exited(0));
  }
}

TEST_F(LsKinds, EachPermitThatIsHeldHasARow) {
  put_others();
  raw_.command("SET", "free-ones", 3);
  Process first = hold_by({"--max", "3"}, "gpus"), second = hold_by({"--max", "3"}, "gpus");
  const Outcome outcome = ls("permit");
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, MatchesRegex("NAME +FREE +OWNER +TTL +WAITING +HOLDER\n"
                                        "gpus +1 +[0-9a-f]{32} .*process [0-9]+, label sh\n"
                                        "gpus +1 +[0-9a-f]{32} .*process [0-9]+, label sh\n"));
  EXPECT_THAT(ls("permit", {"--json"}).out, AllOf(HasSubstr("\"name\":\"gpus\""), HasSubstr("\"available\":1")));
  EXPECT_THAT(use({"inspect", "--kind", "permit", "gpus"}).out, HasSubstr("\nfree   1\n"));
  for (Process* each : {&first, &second}) {
    each->close_stdin();
    EXPECT_EQ(each->finish(), exited(0));
  }
}

TEST_F(LsKinds, SimpleLocksAreStringsWithAnExpiry) {
  put_others();
  raw_.command("SET", "long", std::string(1000, 'x'), "PX", 60'000);
  Process process = hold_by({"--kind", "simple"}, "token");
  EXPECT_THAT(ls("simple").out, MatchesRegex("NAME +OWNER +TTL +WAITING +HOLDER\ntoken +[^\n]*label sh\n"));
  process.close_stdin();
  EXPECT_EQ(process.finish(), exited(0));
}

TEST_F(LsKinds, SemaphoresAndLatchesAreNumbers) {
  put_others();
  raw_.command("SET", "slots", -2);
  raw_.command("SET", "ready", 3, "PX", 3'600'000);
  raw_.command("SET", "more", "12a");
  EXPECT_THAT(ls("semaphore").out, MatchesRegex("NAME +FREE +TTL +WAITING\n"
                                                "ready +3 +[0-9]+ min.* 0\n"
                                                "slots +-2 +none +0\n"));
  EXPECT_THAT(ls("latch", {"r*"}).out, MatchesRegex("NAME +STEPS +TTL +WAITING\nready +3 +.*\n"));
  EXPECT_EQ(ls("latch", {"-q"}).out, "ready\nslots\n");
}

TEST_F(LsKinds, InspectSaysWhatASemaphoreAndALatchHave) {
  EXPECT_EQ(use({"inspect", "--kind", "latch", "ready"}).status, exited(1));
  raw_.command("SET", "ready", 3);
  Outcome outcome = use({"inspect", "--kind", "latch", "ready"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, MatchesRegex("name   ready\nstate  closed\nsteps  3\nnode   .*\n"));
  outcome = use({"inspect", "--kind", "semaphore", "ready"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, MatchesRegex("name   ready\nstate  free\nfree   3\nnode   .*\n"));
  raw_.command("SET", "ready", 0);
  outcome = use({"inspect", "--json", "--kind", "semaphore", "ready"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, ContainsRegex("\\{\"name\":\"ready\",\"available\":0,\"held\":true,\"node\":\".*\"\\}"));
  raw_.command("HSET", "hash", "a", "b");
  EXPECT_EQ(use({"inspect", "--kind", "semaphore", "hash"}).status, exited(69));
}

/// With what kinds keep beside a lock, and with caches of every form.
TEST_F(LsKinds, AllOfThemAreToldFromOtherData) {
  put_others();
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "cache:" + std::to_string(i);
    const std::string value = i % 4 == 0   ? "1"
                              : i % 4 == 1 ? std::string(40, 'f')
                              : i % 4 == 2 ? "a:7"
                                           : kSomebody + "x";
    raw_.command("SET", name, value, "PX", 600'000);
  }
  raw_.command("SET", "without-end", kSomebody);
  raw_.command("SET", "of-redis-py", "0123456789abcdef", "PX", 600'000);
  std::vector<Process> runs;
  runs.push_back(hold_by({"--kind", "fair"}, "in-turn"));
  runs.push_back(hold_by({"--kind", "fenced"}, "counted"));
  runs.push_back(hold_by({"--shared"}, "table"));
  runs.push_back(hold_by({"--max", "3"}, "gpus"));
  runs.push_back(hold_by({"--kind", "simple"}, "token"));
  Process waiter = start({"run", "-v", "--kind", "fair", "in-turn", "--", "true"});
  ASSERT_TRUE(eventually([&] { return raw_.exists("redisson_lock_queue:{in-turn}"); })) << waiter.errors();

  const Outcome outcome = ls("all");
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, MatchesRegex("NAME +KIND +FREE +OWNER +MODE +TTL +WAITING +HOLDER\n"
                                        "counted +lock +[^\n]*label sh\n"
                                        "gpus +permit +2 +[0-9a-f]{32} [^\n]*label sh\n"
                                        "in-turn +lock +[^\n]*label sh\n"
                                        "plain +lock +[^\n]*\n"
                                        "table +read-write +[0-9a-f-]{36}:[0-9]+ +reader +[^\n]*label sh\n"
                                        "token +simple +[^\n]*label sh\n"));
  EXPECT_EQ(ls("all", {"-q"}).out, "counted\ngpus\nin-turn\nplain\ntable\ntoken\n");
  // Without --kind the same, but for simple locks, which are looked for only where names are asked for.
  EXPECT_THAT(use({"ls"}).out,
              AllOf(HasSubstr("KIND"), HasSubstr("\ngpus     permit      2 "), Not(HasSubstr("simple"))));
  EXPECT_EQ(use({"ls", "-q"}).out, "counted\ngpus\nin-turn\nplain\ntable\n");
  EXPECT_EQ(use({"ls", "-q", "[a-z]*"}).out, ls("all", {"-q"}).out);
  EXPECT_EQ(use({"ls", "-q", "of-redis-py"}).out, "of-redis-py\n");
  EXPECT_EQ(ls("fair,permit,spin", {"-q"}).out, "counted\ngpus\nin-turn\nplain\n");
  EXPECT_THAT(ls("lock,permit", {"g*"}).out,
              MatchesRegex("NAME +KIND +FREE +OWNER +TTL +WAITING +HOLDER\ngpus [^\n]*\n"));
  EXPECT_THAT(ls("all", {"--json", "t*"}).out,
              AllOf(HasSubstr("\"kind\":\"read-write\""), HasSubstr("\"kind\":\"simple\"")));
  EXPECT_EQ(ls("all", {"-q", "of-redis-py"}).out, "of-redis-py\n");
  for (Process& each : runs) {
    each.close_stdin();
    EXPECT_EQ(each.finish(), exited(0));
  }
  EXPECT_EQ(finish(waiter).status, exited(0));
}

TEST_F(LsKinds, KindsThatThereAreNot) {
  for (const char* kinds : {"lock,frob", "lock,", ",", "all,lock", "lock, fair", "*"}) {
    const Outcome outcome = ls(kinds);
    EXPECT_EQ(outcome.status, exited(64)) << kinds;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("is not one of lock,"), HasSubstr("latch, all, or several with commas")));
  }
}

TEST_F(LsKinds, OnlyTheseTwoVerbsLookAtNumbers) {
  for (const char* verb : {"wait", "break", "run"}) {
    EXPECT_THAT(use({verb, "--kind", "latch", "ready", "--", "true"}).err, HasSubstr("latch is not one of lock,"));
  }
  EXPECT_THAT(use({"ls", "--kind", "frob"}).err, HasSubstr("permit, semaphore, latch"));
}

}  // namespace
}  // namespace holdfast::test::ls_kinds_test
