// `--kind permit`: so many runs at the same time.
#include "cli_fixture.hpp"

namespace holdfast::test::permit_kind_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class PermitKind : public CliTest {
 protected:
  Process hold() {
    Process process = start({"run", "--kind", "permit", "gpus", "--", "sh", "-c", "echo started; read line; true"});
    EXPECT_EQ(process.read_line(), "started");
    return process;
  }
  std::string free() { return raw_.command("GET", "gpus").text; }
};

TEST_F(PermitKind, AsManyRunAsThereArePermits) {
  EXPECT_EQ(use({"run", "-n", "--kind", "permit", "gpus", "--", "true"}).status, exited(1)) << "there are none";
  raw_.command("SET", "gpus", 2);
  Process first = hold(), second = hold();
  EXPECT_EQ(use({"run", "-n", "--kind", "permit", "gpus", "--", "true"}).status, exited(1));
  first.close_stdin();
  EXPECT_EQ(first.finish(), exited(0)) << first.errors();
  EXPECT_EQ(use({"run", "-n", "--kind", "permit", "gpus", "--", "true"}).status, exited(0));
  second.close_stdin();
  EXPECT_EQ(second.finish(), exited(0)) << second.errors();
  EXPECT_EQ(free(), "2");
}

TEST_F(PermitKind, InspectSaysWhoHasEachAndBreakTakesThemAway) {
  raw_.command("SET", "gpus", 2);
  EXPECT_EQ(use({"inspect", "--kind", "permit", "gpus"}).status, exited(1));
  Process first = hold(), second = hold();
  const auto inspected = use({"inspect", "--kind", "permit", "gpus"});
  EXPECT_EQ(inspected.status, exited(0));
  EXPECT_THAT(inspected.out, ContainsRegex("owner  [0-9a-f]{32}\nwho    .*, process [0-9]+, label sh\nfrom .*\nttl .*\n"
                                           "holds  1\nowner  [0-9a-f]{32}\nwho    .*, process"));
  EXPECT_EQ(use({"wait", "-n", "--kind", "permit", "gpus"}).status, exited(1));
  EXPECT_EQ(use({"break", "-y", "--kind", "permit", "gpus"}).status, exited(0));
  EXPECT_EQ(use({"wait", "-n", "--kind", "permit", "gpus"}).status, exited(0));
  EXPECT_EQ(free(), "2");
  first.close_stdin();
  second.close_stdin();
  first.finish();
  second.finish();
  EXPECT_EQ(free(), "2") << "what was taken away is not given back once more";
}

TEST_F(PermitKind, IsForOneName) {
  EXPECT_THAT(use({"run", "--kind", "permit", "a", "b", "--", "true"}).err,
              HasSubstr("--kind permit is for one name on one server"));
}

}  // namespace
}  // namespace holdfast::test::permit_kind_test
