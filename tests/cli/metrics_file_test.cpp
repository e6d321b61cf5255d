// SPDX-License-Identifier: Apache-2.0
// `holdfast run --metrics-file`: how a run went, for node_exporter, and never at the command's cost.
#include <filesystem>
#include <sys/stat.h>

#include "cli_fixture.hpp"

namespace holdfast::test::metrics_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MetricsFile : public CliTest {
 protected:
  std::string read() const {
    std::ifstream file(path_);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// Everything in its folder.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("."))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const std::string path_ = folder_.file("nightly.prom");
};

TEST_F(MetricsFile, SaysHowTheRunWent) {
  EXPECT_EQ(use({"run", "--metrics-file", path_, "nightly", "--", "sh", "-c", "sleep 0.2; exit 3"}).status, exited(3));
  const std::string text = read();
  EXPECT_THAT(text,
              AllOf(HasSubstr("# TYPE holdfast_run_exit_code gauge\nholdfast_run_exit_code{lock=\"nightly\"} 3\n"),
                    HasSubstr("\nholdfast_run_acquired{lock=\"nightly\"} 1\n"),
                    HasSubstr("\nholdfast_run_lost{lock=\"nightly\"} 0\n"),
                    HasSubstr("\nholdfast_run_hold_seconds{lock=\"nightly\"} 0."), Not(HasSubstr("# EOF"))));
  EXPECT_THAT(files(), testing::ElementsAre("nightly.prom"));
  struct stat seen{};
  ASSERT_EQ(stat(path_.c_str(), &seen), 0);
  EXPECT_NE(seen.st_mode & S_IROTH, 0U) << "the collector is another user";
}

TEST_F(MetricsFile, TakesThePlaceOfTheOldOne) {
  std::ofstream(path_) << "stale";
  hold("nightly");
  EXPECT_EQ(use({"run", "-n", "--metrics-file", path_, "nightly", "--", "true"}).status, exited(1));
  EXPECT_THAT(read(), AllOf(HasSubstr("holdfast_run_acquired{lock=\"nightly\"} 0\n"),
                            HasSubstr("holdfast_run_exit_code{lock=\"nightly\"} 1\n"), Not(HasSubstr("stale"))));
}

TEST_F(MetricsFile, ThatCannotBeWrittenIsAWarningAndNothingElse) {
  const std::string nowhere = folder_.file("missing") + "/nightly.prom";
  const Outcome outcome = use({"run", "--metrics-file", nowhere, "nightly", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.status, exited(7));
  EXPECT_EQ(outcome.err, "holdfast: --metrics-file: cannot write " + nowhere + ": No such file or directory\n");
  EXPECT_THAT(use({"run", "-q", "--metrics-file", nowhere, "nightly", "--", "true"}).err, IsEmpty());
}

TEST_F(MetricsFile, LeavesNothingBehindWhereItsNameIsAFolder) {
  std::filesystem::create_directory(path_);
  const Outcome outcome = use({"run", "--metrics-file", path_, "nightly", "--", "true"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
  EXPECT_THAT(files(), testing::ElementsAre("nightly.prom"));
}

TEST_F(MetricsFile, OfAServerThatCannotBeReachedSaysSo) {
  url_ = "unix:///nowhere/redis.sock";
  EXPECT_EQ(use({"run", "-n", "--metrics-file", path_, "nightly", "--", "true"}).status, exited(69));
  EXPECT_THAT(read(), HasSubstr("holdfast_run_exit_code{lock=\"nightly\"} 69\n"));
}

TEST_F(MetricsFile, OfACandidateSaysWhetherItLeads) {
  const std::string other = folder_.file("other.prom");
  const auto candidate = [&](const std::string& path) {
    return start({"elect", "--lease", "2s", "--rest", "10m", "--metrics-file", path, "scheduler", "--", "sh", "-c",
                  "echo leads; read line"});
  };
  const auto says = [&](const std::string& path, const std::string& what) {
    return eventually([&] {
      std::ifstream file(path);
      std::ostringstream text;
      text << file.rdbuf();
      return text.str().find("\n" + what + "\n") != std::string::npos;
    });
  };
  Process first = candidate(path_);
  EXPECT_EQ(first.read_line(), "leads");
  EXPECT_TRUE(says(path_, "holdfast_elect_leading{lock=\"scheduler\"} 1"));
  EXPECT_TRUE(says(path_, "holdfast_elect_token{lock=\"scheduler\"} 1"));
  Process second = candidate(other);
  EXPECT_TRUE(says(other, "holdfast_elect_leading{lock=\"scheduler\"} 0"));
  first.write_line("");
  EXPECT_EQ(second.read_line(), "leads");
  EXPECT_TRUE(says(path_, "holdfast_elect_leading{lock=\"scheduler\"} 0"));
  EXPECT_TRUE(says(path_, "holdfast_elect_terms{lock=\"scheduler\"} 1"));
  EXPECT_TRUE(says(path_, "holdfast_elect_lost_terms{lock=\"scheduler\"} 0"));
  EXPECT_TRUE(says(other, "holdfast_elect_token{lock=\"scheduler\"} 2"));
  raw_.command("DEL", "scheduler");
  EXPECT_TRUE(says(other, "holdfast_elect_lost_terms{lock=\"scheduler\"} 1"));
  for (Process* each : {&first, &second}) {
    each->signal(SIGTERM);
    each->finish();
  }
  EXPECT_TRUE(says(other, "holdfast_elect_leading{lock=\"scheduler\"} 0"));
}

}  // namespace
}  // namespace holdfast::test::metrics_file_test
