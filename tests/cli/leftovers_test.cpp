// SPDX-License-Identifier: Apache-2.0
// What names that are used once leave on a server, however those who used them have ended.
#include <chrono>
#include <deque>
#include <thread>

#include "cli_fixture.hpp"

namespace holdfast::test::leftovers_test {
namespace {

using testing::Each;
using testing::StartsWith;

class Leftovers : public CliTest {
 protected:
  /// What has no end, by its name.
  std::vector<std::string> endless() {
    std::vector<std::string> found;
    for (const Reply& key : raw_.command("KEYS", "*").elements) {
      if (raw_.pttl(key.text) == -1) found.push_back(key.text);
    }
    return found;
  }
};

TEST_F(Leftovers, OfKilledRunsEndByThemselves) {
  const std::vector<std::vector<std::string>> ways{{"run"},
                                                   {"run", "--kind", "fenced"},
                                                   {"run", "--kind", "simple"},
                                                   {"run", "--kind", "spin"},
                                                   {"run", "--kind", "read-write"},
                                                   {"run", "--shared"},
                                                   {"run", "--fair"},
                                                   {"run", "--max", "1"},
                                                   {"run", "--any", "another"},
                                                   {"run", "beside"},
                                                   {"run", "--at-least", "10"},
                                                   {"run", "--fresh", "10m"},
                                                   {"acquire", "--lease", "10"},
                                                   {"acquire", "--max", "1", "--lease", "10"},
                                                   {"elect"}};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    std::deque<Process> started;
    for (std::size_t way = 0; way < ways.size(); ++way) {
      std::vector<std::string> args = ways[way];
      args.push_back("job:" + std::to_string(round) + ":" + std::to_string(way));
      if (args.front() != "acquire") args.insert(args.end(), {"--", "sleep", "0.03"});
      for (int twice = 0; twice < 2; ++twice) started.push_back(start(args));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * round));
    for (Process& each : started) each.signal(SIGKILL);
    for (Process& each : started) each.finish();
  }
  EXPECT_GT(raw_.command("DBSIZE").integer, 0) << "some were killed while they had something";
  EXPECT_THAT(endless(), Each(StartsWith("redisson_lock_token:")))
      << "a token that began anew would let in an old holder";
}

}  // namespace
}  // namespace holdfast::test::leftovers_test
