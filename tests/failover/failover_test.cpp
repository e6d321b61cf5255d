// Failovers under load: what is granted twice, what is forgotten, who is told when, and how long nobody gets in.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "failover/report.hpp"
#include "failover/stage.hpp"
#include "interop/peer.hpp"
#include "support/raw.hpp"
#include "support/taker_rounds.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr int kProcesses = 8, kThreads = 4;
constexpr int kKeeper = kThreads + 1;
constexpr int kCutOffEvery = 4;
constexpr Stage::Milliseconds kPause = 1ms;
const std::string kCounter = "counter", kRedisson = "redisson";

/// How often a failover is forced and the primary killed: HOLDFAST_FAILOVERS, or once. It is cut off a quarter as
/// often.
int failovers() {
  const char* const number = std::getenv("HOLDFAST_FAILOVERS");
  return number == nullptr ? 1 : std::max(1, std::atoi(number));
}

/// The parameter is the acks that Holdfast asks for.
class UnderLoad : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string holdfast(int i) { return "holdfast" + std::to_string(i); }
  /// What a failover can leave taken is free when its lease is over: in the short form, soon.
  static std::string lease() { return failovers() > 1 ? "lease_ms=10000" : "lease_ms=3000"; }
  /// Redisson takes part in the long form, where it can.
  bool with_redisson() const { return failovers() > 1 && redisson.why_not().empty(); }
  bool durable() const { return GetParam() != "none"; }

  void SetUp() override {
    std::vector<std::string> settings{lease()};
    if (durable()) settings.push_back("acks=" + GetParam());
    for (int i = 0; i < kProcesses; ++i) {
      stage.add(holdfast(i), std::make_unique<Taker>(Taker::Place::own_process), settings);
      for (int thread = 1; thread < kThreads; ++thread) stage.begin(holdfast(i), thread, kCounter, kCounter, kPause);
      const std::string shared_by_two = "other" + std::to_string(i % (kProcesses / 2));
      stage.begin(holdfast(i), kThreads, shared_by_two, shared_by_two, kPause);
    }
    if (!with_redisson()) return;
    for (const std::string client : {"redisson0", "redisson1"}) {
      stage.add(client, redisson.start(), {lease()});
      for (int thread = 1; thread <= kThreads; ++thread) stage.begin(client, thread, kRedisson, kRedisson, kPause);
    }
    ASSERT_TRUE(stage.grows(kRedisson, 10));
  }

  /// Everybody still gets in, and holders of what is certainly forgotten are told.
  void strike_once(Fault fault) {
    struck.push_back(strike(deployment, fault, [this] { keep_what_will_be_forgotten(); }));
    ASSERT_TRUE(stage.grows(kCounter, 50)) << to_string(fault);
    for (int i = 0; i < kProcesses / 2; ++i) ASSERT_TRUE(stage.grows("other" + std::to_string(i), 5));
    if (with_redisson()) stage.grows(kRedisson, 5, 30s);
    if (fault == Fault::cut_off && !durable()) {
      EXPECT_TRUE(stage.all_kept_ended(15s)) << "a holder of a forgotten lock was not told";
    }
    stage.all_kept_ended(0ms);
  }

  /// A lock for each process that no replica will know of.
  void keep_what_will_be_forgotten() {
    for (int i = 0; i < kProcesses; ++i) stage.keep(holdfast(i), kKeeper, "kept by " + holdfast(i));
    Raw raw(deployment.primary());
    for (int i = 0; i < kProcesses; ++i) {
      EXPECT_TRUE(eventually([&] { return raw.exists("kept by " + holdfast(i)); }));
    }
  }

  long times(Fault fault) const {
    return std::ranges::count_if(struck, [&](const Struck& each) { return each.fault == fault; });
  }

  void report(const Part& of_holdfast, const Part& of_redisson, Microseconds end) {
    std::ostringstream text;
    write_report(text, of_holdfast, kCounter, struck, end);
    if (!of_redisson.history.holds.empty()) write_report(text, of_redisson, kRedisson, struck, end);
    std::cout << text.str();
    std::ofstream(results() / ("acks-" + GetParam() + ".txt")) << text.str();
  }

  /// The records of a run that failed, for whoever looks for the reason.
  void TearDown() override {
    if (!HasFailure()) return;
    const auto copy = results() / ("acks-" + GetParam() + ".records");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(stage.records(), copy);
    std::cout << "the records are in " << copy << "\n";
  }

  static std::filesystem::path results() {
    const std::filesystem::path folder = HOLDFAST_BINARY_DIR "/results/failover";
    std::filesystem::create_directories(folder);
    return folder;
  }

  // Sentinels begin no election within twice this time of the one before.
  Deployment deployment{{.failover_timeout = 1000ms}};
  Stage stage{deployment.url()};
  const Peer redisson{"redisson-4"};
  std::vector<Struck> struck;
};
INSTANTIATE_TEST_SUITE_P(With, UnderLoad, ::testing::Values("none", "all"),
                         [](const auto& it) { return "Acks_" + it.param; });

TEST_P(UnderLoad, NoWaiterHangsAndEveryLossIsTold) {
  ASSERT_TRUE(stage.grows(kCounter, 100));
  for (int i = 0; i < failovers(); ++i) {
    for (const Fault fault : {Fault::forced, Fault::killed, Fault::cut_off}) {
      if (fault == Fault::cut_off && i % kCutOffEvery != 0) continue;
      strike_once(fault);
      if (HasFatalFailure()) return;
    }
  }
  const History everything = stage.finish();
  const Microseconds end = shared_clock();

  Part ours{"Holdfast, acks=" + GetParam(), {}}, theirs{redisson.version(), {}};
  for (const HeldOnce& hold : everything.holds) {
    (hold.client.starts_with("holdfast") ? ours : theirs).history.holds.push_back(hold);
  }
  for (const FailedCall& call : everything.failures) {
    (call.client.starts_with("holdfast") ? ours : theirs).history.failures.push_back(call);
  }
  ours.history.connections = everything.connections;
  for (const std::string name : {"counter", "other0", "other1", "other2", "other3"}) {
    ours.lost_updates += lost_updates(ours.history.holds_of(name), stage.number(name));
  }
  theirs.lost_updates = lost_updates(theirs.history.holds, stage.number(kRedisson));
  report(ours, theirs, end);

  const LongestCalls longest = longest_calls(ours.history);
  EXPECT_LT(longest.acquire, 1000 * (Stage::kWait + 5s).count());
  EXPECT_LT(longest.release, 8'000'000);  // release_timeout is 3 s
  EXPECT_LT(spread(notice_delays(ours.history)).worst, 2'000'000);
  if (durable()) {
    EXPECT_EQ(overlaps(ours.history.holds).size(), 0U);
    EXPECT_EQ(forgotten(ours.history.holds).size(), 0U);
    EXPECT_EQ(ours.lost_updates, 0);
  } else {
    // Forgotten, or over before anybody was there to ask.
    const auto kept_and_lost = [](const HeldOnce& hold) { return hold.name.starts_with("kept") && hold.reason != "-"; };
    EXPECT_EQ(std::ranges::count_if(ours.history.holds, kept_and_lost), kProcesses * times(Fault::cut_off));
  }
}

}  // namespace
}  // namespace holdfast::test
