// What the handles of all kinds have in common. There is nothing to run: what breaks it does not compile.
#include <concepts>
#include <memory>

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
static_assert(ReturnsItself<MultiLock> && ReturnsItself<RedLock>);
static_assert(ReturnsItself<KeyLock> && ReturnsItself<BasicLock>);

/// All of a kind's state is behind one pointer.
template <class Kind>
concept OnePointer = sizeof(Kind) == sizeof(std::shared_ptr<int>) && std::copyable<Kind>;
static_assert(OnePointer<Lock> && OnePointer<SimpleLock> && OnePointer<FencedLock> && OnePointer<FairLock>);
static_assert(OnePointer<SpinLock> && OnePointer<LeasedSemaphore> && OnePointer<Semaphore> && OnePointer<Latch>);
static_assert(OnePointer<MultiLock> && OnePointer<RedLock>);

}  // namespace
}  // namespace holdfast::handles_test
