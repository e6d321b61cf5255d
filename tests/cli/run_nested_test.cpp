// SPDX-License-Identifier: Apache-2.0
// `holdfast run` inside a run of the same lock: it would wait for itself.
#include "cli_fixture.hpp"

namespace holdfast::test::run_nested_test {
namespace {

using testing::HasSubstr;

class RunNested : public CliTest {
 protected:
  /// A run of the lock whose command is a line of shell.
  Outcome run_around(const std::string& line, std::vector<std::string> names = {"job"}) {
    std::vector<std::string> args{"run"};
    args.insert(args.end(), names.begin(), names.end());
    args.insert(args.end(), {"--", "sh", "-c", line});
    return use(args, {"tool=" + tool()});
  }
};

TEST_F(RunNested, RefusesToWaitForItself) {
  const Outcome outcome = run_around("\"$tool\" run job -- echo ran");
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("lock \"job\" is held by a run that this command is part of"));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunNested, RefusesAcrossARunOfAnotherLockAndForOneOfSeveralNames) {
  const Outcome outcome =
      run_around("\"$tool\" run other -- \"$tool\" run free second -- echo ran", {"first", "second"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("lock \"second\" is held by a run that this command is part of"));
}

TEST_F(RunNested, SeesItsOwnLockBehindThatOfSomebodyElse) {
  hold("a");
  EXPECT_EQ(run_around("\"$tool\" run a job -- echo ran").status, exited(64));
}

TEST_F(RunNested, RefusesToWaitForTheEndOfItself) {
  for (const char* options : {"", "-w 60 "}) {
    const Outcome outcome = run_around("\"$tool\" wait " + std::string(options) + "job");
    EXPECT_EQ(outcome.status, exited(64));
    EXPECT_THAT(outcome.err, HasSubstr("lock \"job\" is held by a run that this command is part of"));
  }
  EXPECT_EQ(run_around("\"$tool\" wait -n job").status, exited(1)) << "it only asks";
}

TEST_F(RunNested, IsBusyWithNonblock) { EXPECT_EQ(run_around("\"$tool\" run -n job -- echo ran").status, exited(1)); }

TEST_F(RunNested, TakesTheSameNameOnAnotherServer) {
  const RedisServer other;
  EXPECT_EQ(run_around("HOLDFAST_URL=" + other.url() + " \"$tool\" run job -- echo ran").out, "ran\n");
}

TEST_F(RunNested, WaitsWhereTheRunAroundItIsOver) {
  // A daemon that has outlived the run that it was started by, whose owner it still has in its environment.
  const std::string left = folder_.file("left");
  Process process = start({"run", "job", "--", "sh", "-c",
                           "exec 3<&0; setsid sh -c 'touch " + left +
                               "; read line; exec \"$tool\" run -w 20 job -- echo ran' <&3 & while ! test -e " + left +
                               "; do sleep 0.01; done"},
                          {"tool=" + tool()});
  ASSERT_EQ(process.wait(), exited(0)) << process.errors();
  process.write_line("");
  EXPECT_EQ(process.read_line(), "ran");
  EXPECT_EQ(process.errors(), "");
}

TEST_F(RunNested, WaitsForTheRunAroundItWhenToldThatThatOneDoesNotWaitForIt) {
  const std::string log = folder_.file("log");
  const Outcome outcome = run_around("setsid env -u HOLDFAST_OWNERS \"$tool\" run -v job -- echo ran 2>" + log +
                                     " & while ! grep -q waiting " + log + "; do sleep 0.01; done");
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "ran\n");
}

}  // namespace
}  // namespace holdfast::test::run_nested_test
