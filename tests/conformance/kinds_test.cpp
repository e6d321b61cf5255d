// SPDX-License-Identifier: Apache-2.0
// Every other kind of lock through the async face: two clients of it, and three servers or small clusters.
#include <deque>

#include "conformance.hpp"

namespace holdfast::test::kinds_test {
namespace {

struct Kind {
  const char* test_name;
  const char* kind;  // as `connect` wants it
  const char* over;
  const char* name;  // of the lock
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.test_name; }

constexpr Kind kKinds[] = {{"Simple", "simple", "simple", "orders"},
                           {"Fenced", "fenced", "lock", "orders"},
                           {"Fair", "fair", "lock", "orders"},
                           {"Spin", "spin", "lock", "orders"},
                           {"ReadWrite", "read_write", "lock", "orders"},
                           {"Multi", "multi", "lock", "a,b,c"},
                           {"MultiOverSimple", "multi", "simple", "a,b,c"},
                           {"Red", "red", "lock", "orders"},
                           {"RedOverSimple", "red", "simple", "orders"},
                           {"OnePermit", "leased", "lock", "orders"}};

class AsyncKinds : public ::testing::TestWithParam<Kind> {
 protected:
  static constexpr milliseconds kPrompt{5000};

  AsyncKinds() {
    std::string urls;
    for (int i = 0; i < 3; ++i) sites_.emplace_back(2, 0);
    for (Site& site : sites_) urls += (urls.empty() ? "" : ",") + site.url();
    for (Taker& taker : takers_) {
      taker.connect(urls, {"face=async", std::string("kind=") + GetParam().kind, std::string("over=") + GetParam().over,
                           "lease_ms=60000", "safety_poll_ms=60000"});
    }
    if (is_of_permits()) sites_.front().raw(name).command("SET", name, 1);
  }

  static bool is_of_permits() { return GetParam().kind == std::string_view("leased"); }
  /// Nowhere anybody has any of it, now or soon.
  bool gone() {
    const std::vector<std::string> parts =
        is_of_permits() ? std::vector<std::string>{"{" + name + "}:timeout"} : split_list(name);
    const auto has_none = [&](Site& site) {
      return std::ranges::none_of(parts, [&](const std::string& part) { return site.exists(part); });
    };
    return eventually([&] { return std::ranges::all_of(sites_, has_none); }, kPrompt);
  }

  const std::string name = GetParam().name;

 private:
  std::deque<Site> sites_;
  Taker takers_[2] = {Taker(Taker::Place::this_process), Taker(Taker::Place::this_process)};

 protected:
  Party a{takers_[0], 1};
  Party b{takers_[1], 1};
  Party beside_b{takers_[1], 2};
};
INSTANTIATE_TEST_SUITE_P(Of, AsyncKinds, ::testing::ValuesIn(kKinds),
                         [](const auto& each) { return std::string(each.param.test_name); });

TEST_P(AsyncKinds, ExcludesAndIsGivenBack) {
  a.lock(name);
  EXPECT_TRUE(a.is_mine(name));
  EXPECT_GT(a.valid_for(name), 0ms);
  EXPECT_FALSE(b.try_lock(name));
  EXPECT_FALSE(b.try_lock(name, kAWhile));
  EXPECT_EQ(a.unlock(name), "released");
  EXPECT_TRUE(b.try_lock(name, kPrompt));
  EXPECT_FALSE(beside_b.try_lock(name));
  EXPECT_EQ(b.unlock(name), "released");
  EXPECT_TRUE(gone());
}

TEST_P(AsyncKinds, WaitersEnterWhenItIsReleased) {
  a.lock(name);
  std::vector<Pending> waiting;
  for (Party* party : {&b, &beside_b}) {
    waiting.push_back(party->start_lock(name));
    party->start_unlock(name);
  }
  EXPECT_FALSE(waiting.front().answered(100ms));
  EXPECT_FALSE(waiting.back().answered());
  const Answer released = a.start_unlock(name).get();
  for (const Pending& each : waiting) EXPECT_LT(each.get().ended - released.began, kPrompt);
  EXPECT_TRUE(gone());
}

TEST_P(AsyncKinds, ACancelledWaiterLeavesNothingBehind) {
  a.lock(name);
  const Pending waiting = b.start_lock(name);
  EXPECT_FALSE(waiting.answered(100ms));
  EXPECT_TRUE(b.cancel(waiting));
  EXPECT_EQ(waiting.get(kPrompt).word(), "cancelled");
  EXPECT_EQ(a.unlock(name), "released");
  EXPECT_TRUE(gone());
}

TEST_P(AsyncKinds, CancellingAroundTheSendNeverLeavesItHeld) {
  for (int i = 0; i < 50; ++i) {
    const Pending acquire = a.start_lock(name);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 1500));
    a.cancel(acquire);
    const Answer answer = acquire.get();
    EXPECT_TRUE(answer.ok || answer.error == "cancelled") << answer.error << ": " << answer.text;
    if (answer.ok) {
      EXPECT_EQ(a.unlock(name), "released");
    }
  }
  EXPECT_TRUE(gone());
  EXPECT_TRUE(b.try_lock(name, kPrompt));
}

TEST_P(AsyncKinds, LosesNoUpdate) {
  const TempDir folder;
  const std::string file = folder.file("counter");
  std::vector<Pending> work;
  for (Party* party : {&a, &b, &beside_b}) work.push_back(party->start("increment", name, {file, "20"}));
  for (const Pending& task : work) EXPECT_TRUE(task.get().ok) << task.get().text;
  EXPECT_EQ(read_number(file), 3 * 20);
}

TEST_P(AsyncKinds, AClosedClientEndsItsWaitsAndItsHolds) {
  a.lock(name);
  const Pending waiting = b.start_lock(name);
  EXPECT_FALSE(waiting.answered(100ms));
  b.taker().ask({"close"});
  EXPECT_EQ(waiting.get(kPrompt).word(), "closed");
  a.taker().ask({"close"});
  EXPECT_EQ(a.valid_for(name), 0ms);
  EXPECT_TRUE(a.lost(name));
}

}  // namespace
}  // namespace holdfast::test::kinds_test
