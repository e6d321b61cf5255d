// SPDX-License-Identifier: Apache-2.0
// What the handles of all kinds have in common. There is nothing to run: what breaks it does not compile.
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <holdfast/holdfast.hpp>

namespace holdfast::handles_test {
namespace {

/// with() returns the kind that it is called on, and so all that this kind can do.
template <class Kind>
concept ReturnsItself = requires(const Kind lock) {
  { lock.with({}) } -> std::same_as<Kind>;
};
static_assert(ReturnsItself<Lock> && ReturnsItself<SimpleLock> && ReturnsItself<FencedLock>);
static_assert(ReturnsItself<FairLock> && ReturnsItself<SpinLock> && ReturnsItself<LeasedSemaphore>);
static_assert(ReturnsItself<ReadLock> && ReturnsItself<WriteLock> && ReturnsItself<ReadWriteLock>);
static_assert(ReturnsItself<MultiLock> && ReturnsItself<AnyLock> && ReturnsItself<RedLock>);
static_assert(ReturnsItself<BasicLock>);

/// All of a kind's state is behind one pointer.
template <class Kind>
concept OnePointer = sizeof(Kind) == sizeof(std::shared_ptr<int>) && std::copyable<Kind>;
static_assert(OnePointer<Lock> && OnePointer<SimpleLock> && OnePointer<FencedLock> && OnePointer<FairLock>);
static_assert(OnePointer<SpinLock> && OnePointer<LeasedSemaphore> && OnePointer<Semaphore> && OnePointer<Latch>);
static_assert(OnePointer<MultiLock> && OnePointer<RedLock>);

/// set() kept its name in no kind: it would compile, and mean something else.
template <class Kind>
concept HasSet = requires(const Kind counts) { counts.set(1); };
static_assert(!HasSet<Semaphore> && !HasSet<LeasedSemaphore> && !HasSet<Latch>);

/// One type for counts, whoever is counted.
static_assert(std::same_as<decltype(std::declval<const Semaphore>().available()), std::int64_t>);
static_assert(std::same_as<decltype(std::declval<const LeasedSemaphore>().available()), std::int64_t>);
static_assert(std::same_as<decltype(std::declval<const Latch>().count()), std::int64_t>);
static_assert(std::same_as<decltype(std::declval<const ThisThread>().hold_count()), std::int64_t>);

/// What only this process knows is said without an exception, of a hold and of a thread's.
template <class Mine>
concept KnowsWithoutThrowing = requires(const Mine mine) {
  { mine.is_lost() } noexcept;
  { mine.valid_for() } noexcept;
  { mine.token() } noexcept;
  { mine.lost_token() } noexcept;
};
static_assert(KnowsWithoutThrowing<Hold> && KnowsWithoutThrowing<ThisThread>);

/// What has two sides is none of them.
static_assert(!std::is_base_of_v<BasicLock, ReadWriteLock>);
static_assert(std::is_base_of_v<KeyLock, ReadLock> && std::is_base_of_v<KeyLock, WriteLock>);

}  // namespace
}  // namespace holdfast::handles_test
