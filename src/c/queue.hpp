// SPDX-License-Identifier: Apache-2.0
// A completion queue: calls that were started and the results of those that have completed. The library's threads put
// results in, and allocate nothing for it; whoever fetches one makes of it what C sees.
#pragma once

#include <cstdint>
#include <functional>
#include <holdfast.h>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <holdfast/detail/operation.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock_info.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"
#include "c/failure.hpp"
#include "system/system.hpp"

namespace holdfast::c {

/// Of which handle a call is.
struct Origin {
  std::string name{};
  detail::PartsPtr writer{};              // of a write lock: for hf_hold_downgrade()
  std::optional<NotGranted> otherwise{};  // of a wait without a hold: what it means that it was not granted
  std::function<void()> undo{};           // gives back what such a wait was granted, and nobody fetched
};

using Result = std::variant<std::int64_t, Hold, NotGranted, LockInfo, std::vector<LockInfo>>;

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  struct Entry {
    std::uint64_t tag = 0;
    std::uint64_t serial = 0;  // a tag may be used again
    detail::OperationPtr operation{};
    Origin origin{};
    Failure failure{};
    Result result{};
    std::string json{};
  };
  using Entries = std::list<Entry>;
  struct Place {
    Entries::iterator entry;
    std::uint64_t serial = 0;
  };

  /// Throws Error(exhausted) if there are no more descriptors.
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Starts what `make` makes of a receiver of these results. Throws Error(invalid_argument) if that tag is under way,
  /// and what `make` throws.
  template <class... Results, class Make>
  void start(std::uint64_t tag, Origin origin, Make&& make) {
    const Place place = begin(tag, std::move(origin));
    const detail::OperationPtr operation = make(receiver<Results...>(place));
    if (keep(tag, place.serial, operation)) operation->start();
  }

  void cancel(std::uint64_t tag) noexcept;
  /// Nothing completes any more.
  void close() noexcept;
  int next(std::int64_t timeout_ms, hf_completion& completion);
  int fd() const noexcept { return bell_.descriptor(); }

 private:
  template <class... Results>
  class Completing;

  template <class... Results>
  detail::ReceiverPtr<Results...> receiver(const Place& place) {
    try {
      return detail::ReceiverPtr<Results...>(new Completing<Results...>(shared_from_this(), place.entry));
    } catch (...) {
      drop(place.entry);
      throw;
    }
  }
  Place begin(std::uint64_t tag, Origin origin);
  /// False: it has completed already.
  bool keep(std::uint64_t tag, std::uint64_t serial, const detail::OperationPtr& operation);
  void complete(Entries::iterator place, const Failure& failure, Result result) noexcept;
  void drop(Entries::iterator place) noexcept;
  int wait(std::int64_t timeout_ms) const noexcept;
  static void show(Entry& entry, hf_completion& completion);
  static void undo(Entries& entries) noexcept;

  const base::ForkGuard fork_;
  const system::Bell bell_;
  base::Mutex mutex_;
  bool closed_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::uint64_t serial_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, Entries::iterator> by_tag_ HOLDFAST_GUARDED_BY(mutex_);
  Entries under_way_ HOLDFAST_GUARDED_BY(mutex_);
  Entries completed_ HOLDFAST_GUARDED_BY(mutex_);
  Entries fetched_ HOLDFAST_GUARDED_BY(mutex_);  // the last one, whose texts are in use
};

/// Puts what it receives into the queue, in place of its call.
template <class... Results>
class Queue::Completing final : public detail::Receiver<Results...> {
 public:
  Completing(std::shared_ptr<Queue> queue, Entries::iterator place) : queue_(std::move(queue)), place_(place) {}
  void receive(Results... results) override {
    const std::unique_ptr<Completing> self(this);
    put(std::move(results)...);
  }
  void drop() noexcept override {
    const std::unique_ptr<Completing> self(this);
    queue_->drop(place_);
  }

 private:
  void put() { queue_->complete(place_, {}, {}); }
  void put(const Failure& failure) { queue_->complete(place_, failure, {}); }
  void put(const Failure& failure, MaybeHold hold) {
    if (hold) return queue_->complete(place_, failure, *std::move(hold));
    queue_->complete(place_, failure, hold.reason().value_or(NotGranted::busy));
  }
  void put(const Failure& failure, Hold hold) { queue_->complete(place_, failure, std::move(hold)); }
  void put(const Failure& failure, LockInfo info) { queue_->complete(place_, failure, std::move(info)); }
  void put(const Failure& failure, std::vector<LockInfo> infos) { queue_->complete(place_, failure, std::move(infos)); }
  void put(const Failure& failure, std::optional<std::chrono::milliseconds> time) {
    queue_->complete(place_, failure, std::int64_t{time ? time->count() : HF_UNSET});
  }
  void put(const Failure& failure, LossReason reason) {
    queue_->complete(place_, failure, static_cast<std::int64_t>(reason));
  }
  void put(const Failure& failure, bool yes) { queue_->complete(place_, failure, std::int64_t{yes ? 1 : 0}); }
  void put(const Failure& failure, std::int64_t number) { queue_->complete(place_, failure, number); }
  void put(const Failure& failure, std::size_t number) { put(failure, static_cast<std::int64_t>(number)); }
  void put(ReleaseOutcome outcome) { queue_->complete(place_, {}, static_cast<std::int64_t>(outcome)); }
  void put(std::size_t number) { queue_->complete(place_, {}, static_cast<std::int64_t>(number)); }

  const std::shared_ptr<Queue> queue_;
  const Entries::iterator place_;
};

}  // namespace holdfast::c

struct hf_queue {
  std::shared_ptr<holdfast::c::Queue> queue;
};
