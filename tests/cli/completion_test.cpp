// SPDX-License-Identifier: Apache-2.0
// The completions in real shells on a pseudo-terminal, while somebody else chooses the names of the locks: see
// hostile_names.py.
#include <cstdlib>

#include "cli_fixture.hpp"

namespace holdfast::test::completion_test {
namespace {

class Completion : public CliTest, public testing::WithParamInterface<std::string> {
 protected:
  Completion() : CliTest({.listen = ServerOptions::Listen::tcp}) {}
  void SetUp() override {
    if (installed(GetParam())) return;
    if (std::getenv("CI") != nullptr) FAIL() << "no " << GetParam() << " here: tools/setup test installs it";
    GTEST_SKIP() << "no " << GetParam() << " here";
  }
};

TEST_P(Completion, TakesTheNameOfALockForNothingElse) {
  Process process("python3", {source_path("tests/cli/hostile_names.py"), std::to_string(server_.port()), tool(),
                              source_path("completions"), GetParam()});
  process.close_stdin();
  EXPECT_EQ(process.finish(std::chrono::minutes(5)), exited(0));
  EXPECT_EQ(process.output() + process.errors(), "");
}

INSTANTIATE_TEST_SUITE_P(In, Completion, testing::Values("bash", "zsh", "fish"),
                         [](const auto& shell) { return shell.param; });

}  // namespace
}  // namespace holdfast::test::completion_test
