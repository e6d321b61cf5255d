// SPDX-License-Identifier: Apache-2.0
// `--shared` and `--kind read-write`: several readers or one writer, and what the other verbs say of them.
#include <boost/json.hpp>

#include "cli_fixture.hpp"

namespace holdfast::test::read_write_kind_test {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class ReadWriteKind : public CliTest {
 protected:
  /// A run whose command has said its owner and stays until it is told to end.
  struct Running {
    Process process;
    std::string owner;
  };
  Running running(const std::string& option, const std::string& label) const {
    std::vector<std::string> args{"run", "--label", label, option};
    args.insert(args.end(), {"job", "--", "sh", "-c", "echo $HOLDFAST_OWNER; read line"});
    Process process = start(args);
    std::optional<std::string> owner = process.read_line();
    EXPECT_TRUE(owner) << process.errors();
    return {std::move(process), owner.value_or("")};
  }
  static Outcome end(Running& running) {
    running.process.write_line("");
    return finish(running.process);
  }
  Outcome inspect() const { return use({"inspect", "--kind", "read-write", "job"}); }

  const std::string writer_ = "--kind=read-write";
};

TEST_F(ReadWriteKind, ReadersRunTogetherAndAWriterAlone) {
  Running one = running("--shared", "one");
  Running two = running("-s", "two");
  EXPECT_EQ(raw_.hgetall("job").at("mode"), "read");
  EXPECT_EQ(use({"run", "-n", writer_, "job", "--", "echo", "ran"}).status, exited(1));
  Process waiting = start({"run", "-v", writer_, "job", "--", "echo", "ran"});
  EXPECT_THAT(waiting.read_error_line().value_or(""), ContainsRegex("held by .* and 1 other reader, waiting"));
  EXPECT_EQ(end(one).status, exited(0));
  EXPECT_EQ(end(two).status, exited(0));
  EXPECT_EQ(finish(waiting).out, "ran\n");
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(ReadWriteKind, AReaderWaitsForTheWriter) {
  Running writer = running(writer_, "the writer");
  const Outcome refused = use({"run", "-n", "-E", "7", "--shared", "job", "--", "echo", "ran"});
  EXPECT_EQ(refused.status, exited(7));
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("label the writer"));
  Process reader = start({"run", "-v", "--shared", "job", "--", "echo", "ran"});
  EXPECT_THAT(reader.read_error_line().value_or(""), HasSubstr("label the writer, waiting"));
  EXPECT_EQ(end(writer).status, exited(0));
  EXPECT_EQ(finish(reader).out, "ran\n");
}

TEST_F(ReadWriteKind, AReaderIsRenewedWhileItsCommandRuns) {
  Process process =
      start({"run", "-v", "--shared", "--lease", "1", "job", "--", "sh", "-c", "echo started; read line"});
  expect_renewals(process, "job");
}

TEST_F(ReadWriteKind, InspectShowsEachReader) {
  EXPECT_EQ(inspect().status, exited(1));
  Running one = running("--shared", "one");
  Running two = running("--shared", "two");
  const Outcome seen = inspect();
  EXPECT_EQ(seen.status, exited(0));
  for (const Running* each : {&one, &two}) {
    EXPECT_THAT(seen.out, ContainsRegex("owner  " + each->owner + "\nmode   reader\nwho    .*, label " +
                                        (each == &one ? "one" : "two") + "\nfrom   .*\nttl    [0-9.]+ s\nholds  1\n"));
  }
  EXPECT_THAT(seen.out, HasSubstr("\nstate  held\n"));
  EXPECT_EQ(end(one).status, exited(0));
  EXPECT_THAT(inspect().out, AllOf(HasSubstr(two.owner), Not(HasSubstr(one.owner))));
  EXPECT_EQ(end(two).status, exited(0));
  EXPECT_EQ(inspect().status, exited(1));
}

TEST_F(ReadWriteKind, InspectShowsTheWriterFirst) {
  Running writer = running(writer_, "the writer");
  EXPECT_THAT(inspect().out,
              ContainsRegex("owner  " + writer.owner + "\nmode   writer\nwho    .*, label the writer\n"));
  // As when the thread that writes reads as well: Redisson's count of its reads, each with a lease of its own.
  raw_.command("HSET", "job", writer.owner, 2);
  raw_.command("SET", "{job}:" + writer.owner + ":rwlock_timeout:1", 1, "PX", 5000);
  raw_.command("SET", "{job}:" + writer.owner + ":rwlock_timeout:2", 1, "PX", 7000);
  const json::value seen = json::parse(use({"inspect", "--json", writer_, "job"}).out);
  const json::array& holders = seen.at("holders").as_array();
  ASSERT_EQ(holders.size(), 2U);
  EXPECT_EQ(holders[0].at("mode"), "exclusive");
  EXPECT_EQ(holders[1].at("mode"), "shared");
  EXPECT_EQ(holders[1].at("count"), 2);
  EXPECT_GT(holders[1].at("remaining_ms").as_int64(), 1000);
  EXPECT_LE(holders[1].at("remaining_ms").as_int64(), 7000);
  EXPECT_GT(holders[0].at("remaining_ms").as_int64(), 7000);
  for (const json::value& holder : holders) {
    EXPECT_EQ(holder.at("owner").as_string(), writer.owner);
    EXPECT_EQ(holder.at("holder").at("label"), "the writer");
  }
  EXPECT_EQ(seen.at("owner").as_string(), writer.owner);
  EXPECT_EQ(end(writer).status, exited(0));
}

TEST_F(ReadWriteKind, APlainLockHasOneHolder) {
  hold("job");
  const json::value seen = json::parse(use({"inspect", "--json", "job"}).out);
  ASSERT_EQ(seen.at("holders").as_array().size(), 1U);
  EXPECT_EQ(seen.at("holders").at(0).at("owner").as_string(), kSomebody);
  EXPECT_EQ(seen.at("holders").at(0).at("mode"), "exclusive");
  EXPECT_EQ(seen.at("holders").at(0).at("remaining_ms"), seen.at("remaining_ms"));
  EXPECT_EQ(json::parse(use({"ls", "--json"}).out).at(0).at("holders").as_array().size(), 1U);
  raw_.command("DEL", "job");
  EXPECT_TRUE(json::parse(use({"inspect", "--json", "job"}).out).at("holders").as_array().empty());
}

TEST_F(ReadWriteKind, IsWaitedForUntilTheLastReaderIsOut) {
  Running one = running("--shared", "one");
  Running two = running("--shared", "two");
  EXPECT_EQ(use({"wait", writer_, "-n", "job"}).status, exited(1));
  EXPECT_EQ(end(one).status, exited(0));
  EXPECT_EQ(use({"wait", writer_, "-n", "job"}).status, exited(1));
  EXPECT_EQ(end(two).status, exited(0));
  EXPECT_EQ(use({"wait", writer_, "-n", "job"}).status, exited(0));
}

TEST_F(ReadWriteKind, BreakTakesItFromTheReaderThatIsNamed) {
  Running one = running("--shared", "one");
  Running two = running("--shared", "two");
  Outcome outcome = use({"break", "-y", writer_, "--owner", kSomebody, "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("left alone: it is held by"), HasSubstr("label one"), HasSubstr("label two")));
  outcome = use({"break", "-y", writer_, "--owner", two.owner, "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("label two"), Not(HasSubstr("label one"))));
  EXPECT_EQ(finish(two.process).status, exited(75));
  EXPECT_EQ(end(one).status, exited(0));
}

TEST_F(ReadWriteKind, BreakTakesItFromAllReaders) {
  Running one = running("--shared", "one");
  Running two = running("--shared", "two");
  const Outcome outcome = use({"break", "-y", writer_, "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("taken from"), HasSubstr("label one"), HasSubstr("label two")));
  EXPECT_FALSE(raw_.exists("job"));
  EXPECT_EQ(finish(one.process).status, exited(75));
  EXPECT_EQ(finish(two.process).status, exited(75));
}

TEST_F(ReadWriteKind, AWriterInsideAReaderWouldWaitForItself) {
  const std::string inner = tool() + " run " + writer_ + " job -- echo inner";
  const Outcome outcome = use({"run", "--shared", "job", "-c", inner});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("so it would wait for itself"));
  EXPECT_EQ(use({"run", "--shared", "job", "-c", tool() + " run --shared job -- echo inner"}).out, "inner\n");
}

TEST_F(ReadWriteKind, NobodySaysThatAReaderWaitsForReaders) {
  Running other = running("--shared", "other");
  const Outcome outcome = use({"run", "-v", "--shared", "job", "--", "echo", "ran"});
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_THAT(outcome.err, Not(HasSubstr("waiting")));
  EXPECT_EQ(end(other).status, exited(0));
}

TEST_F(ReadWriteKind, AWriterInsideAReaderIsFoundBehindOthers) {
  // The other one stands first in the hash.
  Running other = running("--shared", "other");
  const std::string inner = tool() + " run " + writer_ + " job -- echo inner";
  const Outcome outcome = use({"run", "--shared", "job", "-c", inner});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("so it would wait for itself"));
  EXPECT_EQ(end(other).status, exited(0));
}

TEST_F(ReadWriteKind, IsForOneNameOnOneServer) {
  for (const std::string& option : {std::string("--shared"), writer_}) {
    const Outcome outcome = use({"run", option, "a", "b", "--", "true"});
    EXPECT_EQ(outcome.status, exited(64));
    EXPECT_THAT(outcome.err, HasSubstr("--shared and --kind read-write are for one name on one server"));
  }
  const Outcome outcome = use({"inspect", writer_, "--url", url_, "--url", "redis://127.0.0.1:1", "job"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("--kind read-write is for one server"));
}

TEST_F(ReadWriteKind, SharedGoesWithNoOtherKind) {
  for (const char* kind : {"lock", "fenced", "simple"}) {
    const Outcome outcome = use({"run", "--shared", "--kind", kind, "job", "--", "true"});
    EXPECT_EQ(outcome.status, exited(64)) << kind;
    EXPECT_THAT(outcome.err, HasSubstr("--shared is for read-write locks")) << kind;
  }
  EXPECT_EQ(use({"run", "--shared", writer_, "job", "--", "echo", "ran"}).out, "ran\n");
}

TEST_F(ReadWriteKind, SaysWhichKindANameIs) {
  Running reader = running("--shared", "one");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"run", "job", "--", "true"}, {"wait", "job"}, {"break", "-y", "job"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args.front();
    EXPECT_THAT(outcome.err, HasSubstr("it is a read-write lock (--kind read-write, or run --shared)"));
  }
  EXPECT_EQ(end(reader).status, exited(0));
  hold("job");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"run", "--shared", "job", "--", "true"}, {"inspect", writer_, "job"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args.front();
    EXPECT_THAT(outcome.err, HasSubstr("with one owner at a time (--kind lock, or fenced)"));
  }
}

}  // namespace
}  // namespace holdfast::test::read_write_kind_test
