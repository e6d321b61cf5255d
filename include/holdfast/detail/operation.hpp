// SPDX-License-Identifier: Apache-2.0
// Between async.hpp and the library: operations that are started here and report to a receiver. Not for users.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/detail/counting.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/options.hpp>

// A static library has Asio's compiled part; with a second one in the program, a signal_set would wait in vain.
#if defined(BOOST_ASIO_ENABLE_VERSION_NAMESPACE) && !defined(BOOST_ASIO_SEPARATE_COMPILATION)
#error "Holdfast's static library brings Asio's compiled part along: define BOOST_ASIO_SEPARATE_COMPILATION as well"
#endif

namespace holdfast::engine {
class Core;
}

namespace holdfast::detail {

using engine::Claim;
using engine::Core;

/// Receives the results of an operation.
template <class... Results>
class Receiver {
 public:
  /// Passes them on without running the caller's code in this call, then destroys itself.
  virtual void receive(Results... results) = 0;
  /// Destroys itself without passing anything on.
  virtual void drop() noexcept = 0;

 protected:
  ~Receiver() = default;
};

struct DropReceiver {
  template <class Any>
  void operator()(Any* receiver) const noexcept {
    receiver->drop();
  }
};
template <class... Results>
using ReceiverPtr = std::unique_ptr<Receiver<Results...>, DropReceiver>;

/// One operation. Keeps itself alive from start() until it has reported to its receiver.
class HOLDFAST_EXPORT Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual void start() = 0;
  /// Ends it soon, unless it has already ended. From any thread, even while it is ending.
  virtual void cancel() noexcept = 0;
  /// Drops the receiver within this call, unless another thread is using it, and ends the operation soon. From any
  /// thread.
  virtual void abandon() noexcept = 0;
};
using OperationPtr = std::shared_ptr<Operation>;

HOLDFAST_EXPORT OperationPtr make_acquire(const PartsPtr& parts, AcquireOptions options,
                                          ReceiverPtr<Failure, Hold> receiver);
HOLDFAST_EXPORT OperationPtr make_try_acquire(const PartsPtr& parts, AcquireOptions options,
                                              ReceiverPtr<Failure, MaybeHold> receiver);
HOLDFAST_EXPORT OperationPtr make_release(Hold hold, ReceiverPtr<ReleaseOutcome> receiver);
HOLDFAST_EXPORT OperationPtr make_wait_lost(std::shared_ptr<Claim> held, ReceiverPtr<Failure, LossReason> receiver);

HOLDFAST_EXPORT OperationPtr make_extend(const std::shared_ptr<Claim>& held, std::chrono::milliseconds lease,
                                         ReceiverPtr<Failure> receiver);
HOLDFAST_EXPORT OperationPtr make_adopt(const PartsPtr& parts, const std::string& ticket, const AdoptOptions& options,
                                        ReceiverPtr<Failure, Hold> receiver);
HOLDFAST_EXPORT OperationPtr make_downgrade(const PartsPtr& parts, const std::shared_ptr<Claim>& held,
                                            ReceiverPtr<Failure> receiver);

HOLDFAST_EXPORT OperationPtr make_ask_release(const PartsPtr& parts, ReceiverPtr<Failure, std::size_t> receiver);
HOLDFAST_EXPORT OperationPtr make_is_locked(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver);
HOLDFAST_EXPORT OperationPtr make_is_held_by(const PartsPtr& parts, const std::string& owner,
                                             ReceiverPtr<Failure, bool> receiver);
HOLDFAST_EXPORT OperationPtr make_remaining(const PartsPtr& parts,
                                            ReceiverPtr<Failure, std::optional<std::chrono::milliseconds>> receiver);
HOLDFAST_EXPORT OperationPtr make_info(const PartsPtr& parts, InfoDetail detail,
                                       ReceiverPtr<Failure, LockInfo> receiver);
HOLDFAST_EXPORT OperationPtr make_force_release(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver);
HOLDFAST_EXPORT OperationPtr make_force_release(const PartsPtr& parts, const std::string& owner,
                                                ReceiverPtr<Failure, bool> receiver);

/// For kinds that grant without a Hold: waits until it is granted, or at most that long and says whether it was.
HOLDFAST_EXPORT OperationPtr make_pass(const PartsPtr& parts, std::int64_t permits, std::stop_token stop,
                                       ReceiverPtr<Failure> receiver);
HOLDFAST_EXPORT OperationPtr make_pass_in_time(const PartsPtr& parts, std::int64_t permits,
                                               std::chrono::milliseconds wait, std::stop_token stop,
                                               ReceiverPtr<Failure, bool> receiver);
/// The number, or whether it is 1.
HOLDFAST_EXPORT OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                                           ReceiverPtr<Failure, std::int64_t> receiver);
HOLDFAST_EXPORT OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                                           ReceiverPtr<Failure, bool> receiver);

/// Throws Error(lost), with the given exception, if any, nested in it.
[[noreturn]] HOLDFAST_EXPORT void throw_lost(const Claim& held, const std::exception_ptr& nested);

HOLDFAST_EXPORT OperationPtr make_ping(const std::shared_ptr<Core>& core, ReceiverPtr<Failure> receiver);
HOLDFAST_EXPORT OperationPtr make_list(const std::shared_ptr<Core>& core, const std::string& pattern, InfoDetail detail,
                                       KeyForm what, ReceiverPtr<Failure, std::vector<LockInfo>> receiver);
HOLDFAST_EXPORT OperationPtr make_release_all(const std::shared_ptr<Core>& core, std::chrono::milliseconds within,
                                              ReceiverPtr<std::size_t> receiver);
HOLDFAST_EXPORT OperationPtr make_close(const std::shared_ptr<Core>& core, ReceiverPtr<> receiver);

}  // namespace holdfast::detail
