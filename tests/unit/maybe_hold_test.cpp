// SPDX-License-Identifier: Apache-2.0
// What can be asked of the result of try_acquire, and what must not compile: a question to a temporary, after whose
// answer the lock is free again.
#include <optional>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/hold.hpp>
#include <holdfast/lock.hpp>

namespace holdfast::maybe_hold_test {
namespace {

template <class T>
concept Askable = requires(T&& asked) { static_cast<T&&>(asked) ? 1 : 0; };
template <class T>
concept AskableByName = requires(T&& asked) { static_cast<T&&>(asked).has_value(); };
template <class T>
concept Comparable = requires(T&& asked) { static_cast<T&&>(asked) == std::nullopt; };
template <class T>
concept NotComparable = requires(T&& asked) { static_cast<T&&>(asked) != std::nullopt; };
template <class T>
concept Pointing = requires(T&& asked) { static_cast<T&&>(asked)->valid_for(); };

using Tried = decltype(std::declval<BasicLock&>().try_acquire());
using Acquired = decltype(std::declval<BasicLock&>().acquire());

// `if (auto hold = lock.try_acquire()) …` and all that follows it.
static_assert(Askable<MaybeHold&> && Askable<const MaybeHold&> && AskableByName<MaybeHold&>);
static_assert(Comparable<MaybeHold&> && NotComparable<const MaybeHold&> && Pointing<MaybeHold&>);
static_assert(Pointing<const MaybeHold&> && Askable<Hold&> && Askable<const Hold&>);
// `if (lock.try_acquire()) …`, `while (!lock.try_acquire()) …` and their like; `if (lock.acquire()) …`.
static_assert(!Askable<Tried> && !AskableByName<Tried> && !Comparable<Tried> && !NotComparable<Tried>);
static_assert(!Pointing<Tried> && !std::is_constructible_v<bool, Tried> && !std::is_constructible_v<bool, const Tried>);
static_assert(!Askable<Acquired>);
// It moves, and into what it stands for.
static_assert(std::is_nothrow_move_constructible_v<MaybeHold> && !std::is_copy_constructible_v<MaybeHold>);
static_assert(std::is_convertible_v<Tried, std::optional<Hold>> && std::is_convertible_v<Hold, MaybeHold>);
static_assert(!std::is_convertible_v<MaybeHold&, std::optional<Hold>>);

TEST(MaybeHoldTest, IsEmptyUntilItHasAHold) {
  MaybeHold maybe;
  EXPECT_FALSE(maybe);
  EXPECT_FALSE(maybe.has_value());
  EXPECT_TRUE(maybe == std::nullopt);
  EXPECT_THROW(maybe.value(), std::bad_optional_access);
  maybe = Hold();
  EXPECT_TRUE(maybe);
  EXPECT_TRUE(maybe != std::nullopt);
  EXPECT_EQ(maybe->state(), HoldState::empty);
  EXPECT_EQ((*maybe).valid_for().count(), 0);
  maybe.reset();
  EXPECT_FALSE(maybe);
}

TEST(MaybeHoldTest, GivesItsHoldAway) {
  EXPECT_EQ(MaybeHold(Hold()).value().state(), HoldState::empty);
  EXPECT_EQ((*MaybeHold(Hold())).state(), HoldState::empty);
  const std::optional<Hold> none = MaybeHold();
  EXPECT_FALSE(none.has_value());
  std::optional<Hold> one;
  one = MaybeHold(Hold());
  EXPECT_TRUE(one.has_value());
}

}  // namespace
}  // namespace holdfast::maybe_hold_test
