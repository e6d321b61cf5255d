// SPDX-License-Identifier: Apache-2.0
// Several readers of one client share what the server has granted: each sees of it what it would see alone, whatever
// the others do, in every order.
#include <array>

#include "faults.hpp"

namespace holdfast::test::shared_claims_test {
namespace {

using testing::Optional;

/// What a reader does. Those from `release` on end its hold; the others change nothing that anybody could see.
enum class Call {
  extend,
  detach,
  downgrade,
  wait_zero_leave,
  move,
  token,
  release,
  leave,
  leave_longer,
  drop,
};
constexpr std::array kQuestions = {Call::extend, Call::detach, Call::downgrade, Call::move, Call::token};
constexpr std::array kEnds = {Call::release, Call::wait_zero_leave, Call::leave, Call::leave_longer, Call::drop};
const char* to_string(Call call) {
  constexpr std::array kNames = {"extend", "detach",  "downgrade", "leave(0)",   "move",
                                 "token",  "release", "leave(5s)", "leave(15s)", "drop"};
  return kNames[static_cast<std::size_t>(call)];
}
constexpr milliseconds kRest = 5s, kLongerRest = 15s;

/// One reader's part.
struct Step {
  std::size_t reader = 0;
  Call call = Call::drop;
};
using Story = std::vector<Step>;

std::string text(const Story& story) {
  std::string text;
  for (const Step& step : story) text += std::to_string(step.reader) + " " + to_string(step.call) + ", ";
  return text;
}

/// All ways in which these may follow one another, each reader's own in their order.
void interleave(const std::vector<std::vector<Call>>& parts, std::vector<std::size_t>& at, Story& story,
                std::vector<Story>& all) {
  bool over = true;
  for (std::size_t reader = 0; reader < parts.size(); ++reader) {
    if (at[reader] == parts[reader].size()) continue;
    over = false;
    story.push_back({reader, parts[reader][at[reader]++]});
    interleave(parts, at, story, all);
    story.pop_back();
    --at[reader];
  }
  if (over) all.push_back(story);
}

class SharedClaims : public Faults {
 protected:
  /// Lives through a story with as many readers as it has, and looks at all of them behind each step.
  void live(const Story& story, std::size_t readers) {
    SCOPED_TRACE(text(story));
    holds.clear();
    rest_until.reset();
    for (std::size_t i = 0; i < readers; ++i) holds.push_back(table.reader().acquire());
    owner = holds.front().owner();
    look();
    for (const Step& step : story) {
      take(holds[step.reader], step.call);
      look();
    }
    look_at_what_is_left();
    if (rest_until) raw.command("DEL", "table", hold_key());
  }

  void take(Hold& hold, Call call) {
    switch (call) {
      case Call::extend:
        EXPECT_EQ(error_of([&] { return hold.extend(1min), 0; })->code(), code(Errc::invalid_argument));
        break;
      case Call::detach:
        EXPECT_EQ(error_of([&] { return hold.detach(); })->code(), code(Errc::invalid_argument));
        break;
      case Call::downgrade:
        EXPECT_FALSE(error_of([&] { return table.downgrade(hold), 0; })) << "it reads already";
        break;
      case Call::move: {
        Hold moved = std::move(hold);
        hold = std::move(moved);
        break;
      }
      case Call::token: {
        const std::stop_token token = hold.lost_token();
        EXPECT_TRUE(token.stop_possible());
        EXPECT_FALSE(token.stop_requested());
        EXPECT_FALSE(hold.token());
        break;
      }
      case Call::release:
        return expect_ended(hold, hold.release(), ReleaseOutcome::released);
      case Call::wait_zero_leave:
        return expect_ended(hold, hold.leave(0ms), ReleaseOutcome::released);
      case Call::leave:
        return leave(hold, kRest);
      case Call::leave_longer:
        return leave(hold, kLongerRest);
      case Call::drop:
        hold = {};
        break;
    }
  }
  void leave(Hold& hold, milliseconds rest) {
    const auto until = steady_clock::now() + rest;
    rest_until = std::max(rest_until.value_or(until), until);
    expect_ended(hold, hold.leave(rest), ReleaseOutcome::left);
  }
  static void expect_ended(Hold& hold, ReleaseOutcome outcome, ReleaseOutcome wanted) {
    EXPECT_EQ(outcome, wanted);
    EXPECT_EQ(hold.release(), wanted) << "the first outcome again";
    EXPECT_FALSE(hold.is_lost());
  }

  /// As each of them alone would be.
  void look() {
    bool any = false;
    for (const Hold& hold : holds) {
      EXPECT_FALSE(hold.is_lost());
      if (!hold) {
        EXPECT_EQ(hold.valid_for(), 0ms);
        EXPECT_TRUE(hold.state() == HoldState::released || hold.state() == HoldState::empty);
        EXPECT_EQ(error_of([&] { return hold.throw_if_lost(), 0; })->code(), code(Errc::not_owner));
        continue;
      }
      any = true;
      EXPECT_EQ(hold.owner(), owner) << "they share it";
      EXPECT_EQ(hold.state(), HoldState::held);
      EXPECT_GT(hold.valid_for(), 1s);
      EXPECT_EQ(hold.durable_for(), 0ms);
      EXPECT_EQ(hold.loss_reason(), std::nullopt);
      EXPECT_FALSE(error_of([&] { return hold.throw_if_lost(), 0; }));
      EXPECT_EQ(hold.name(), "table");
    }
    if (any) {
      EXPECT_GT(raw.pttl(hold_key()), 2 * kLongerRest.count()) << "it is not cut while somebody has it";
    }
  }
  void look_at_what_is_left() {
    if (!rest_until) {
      EXPECT_TRUE(eventually([&] { return !raw.exists("table"); })) << "nobody has it";
      return;
    }
    EXPECT_TRUE(eventually([&] { return raw.pttl(hold_key()) <= kLongerRest.count(); })) << "no longer than that";
    const long long left = raw.pttl(hold_key());
    EXPECT_GE(left, std::chrono::duration_cast<milliseconds>(*rest_until - steady_clock::now()).count());
    EXPECT_EQ(raw.hgetall("table")[owner], "1");
  }
  std::string hold_key() const { return "{table}:" + owner + ":rwlock_timeout:1"; }

  Client client = [this] {
    Config settings = config();
    settings.lease = 1min;
    return Client(settings);
  }();
  const ReadWriteLock table = client.read_write_lock("table");
  std::vector<Hold> holds;
  std::string owner;
  std::optional<steady_clock::time_point> rest_until;
};

TEST_F(SharedClaims, OfTwoReadersEachSeesWhatItWouldSeeAlone) {
  std::vector<Story> stories;
  for (const Call first : kQuestions) {
    for (const Call second : kQuestions) {
      for (const Call first_end : kEnds) {
        for (const Call second_end : kEnds) {
          std::vector<std::size_t> at(2);
          Story story;
          interleave({{first, first_end}, {second, second_end}}, at, story, stories);
        }
      }
    }
  }
  for (const Story& story : stories) {
    live(story, 2);
    if (HasFailure()) return;
  }
  RecordProperty("stories", static_cast<int>(stories.size()));
  std::cout << stories.size() << " stories of two readers\n";
}

TEST_F(SharedClaims, OfThreeReadersEachMayEndInAnyWayAndOrder) {
  std::vector<Story> stories;
  for (const Call first : kEnds) {
    for (const Call second : kEnds) {
      for (const Call third : kEnds) {
        std::vector<std::size_t> at(3);
        Story story;
        interleave({{first}, {second}, {third}}, at, story, stories);
      }
    }
  }
  for (const Story& story : stories) {
    live(story, 3);
    if (HasFailure()) return;
  }
  std::cout << stories.size() << " stories of three readers\n";
}

TEST_F(SharedClaims, OfALostOneEachReleaseIsReported) {
  for (int i = 0; i < 3; ++i) holds.push_back(table.reader().acquire());
  EXPECT_TRUE(table.writer().force_release());
  EXPECT_TRUE(eventually([&] { return std::ranges::all_of(holds, &Hold::is_lost); }));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(log->wait_for("released", 3));
  for (Hold& hold : holds) hold = {};
  client.close();
  EXPECT_EQ(log->count("released"), 3U) << "each once";
  EXPECT_EQ(log->count("lost"), 3U);
}

TEST_F(SharedClaims, WhatOneHasLeftKeepsAWriterOutUntilThen) {
  Client other(config());
  Hold leaves = table.reader().acquire();
  Hold releases = table.reader().acquire();
  ASSERT_EQ(leaves.owner(), releases.owner());
  const auto left_at = steady_clock::now();
  EXPECT_EQ(leaves.leave(1500ms), ReleaseOutcome::left);
  EXPECT_EQ(releases.release(), ReleaseOutcome::released);
  const MaybeHold none = other.read_write_lock("table").writer().try_acquire();
  EXPECT_FALSE(none);
  Hold writer = other.read_write_lock("table").writer().acquire({.wait = 30s});
  EXPECT_GE(steady_clock::now() - left_at, 1400ms);
}

TEST_F(SharedClaims, WhatOneHasLeftStaysWhenAllIsGivenBack) {
  const Hold stays = table.reader().acquire();
  Hold leaves = table.reader().acquire();
  ASSERT_EQ(leaves.owner(), stays.owner());
  EXPECT_EQ(leaves.leave(5s), ReleaseOutcome::left);
  EXPECT_EQ(client.release_all(20s), 0U);
  EXPECT_THAT(stays.loss_reason(), Optional(LossReason::closed));
  EXPECT_THAT(raw.pttl("table"), testing::AllOf(testing::Gt(1000), testing::Le(5000)));
}

TEST_F(SharedClaims, WhatOneHasLeftKeepsAWriterOfThisClientOutToo) {
  Hold leaves = table.reader().acquire();
  Hold releases = table.reader().acquire();
  ASSERT_EQ(leaves.owner(), releases.owner());
  auto writer = in_thread([&] { return table.writer().acquire({.wait = 30s}).valid_for() > 0ms; });
  ASSERT_TRUE(eventually([&] { return client.counters().waiting > 0; }));
  const auto left_at = steady_clock::now();
  EXPECT_EQ(leaves.leave(1500ms), ReleaseOutcome::left);
  EXPECT_EQ(releases.release(), ReleaseOutcome::released);
  EXPECT_TRUE(writer.get());
  EXPECT_GE(steady_clock::now() - left_at, 1400ms);
}

}  // namespace
}  // namespace holdfast::test::shared_claims_test
