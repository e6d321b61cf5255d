// SPDX-License-Identifier: Apache-2.0
// What the blocking and the asynchronous calls of a Leader share. Not for users.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include <holdfast/leader.hpp>

namespace holdfast {

namespace detail {

/// Between two attempts that failed.
inline constexpr std::chrono::milliseconds kCampaignPause{1000};

/// Whether a campaign that nobody has stopped goes on after this failure. `cancelled` is then Client::release_all(),
/// which ends a wait and not the campaign.
inline bool goes_on(const Error& error) { return error.may_pass() || error.code() == Errc::cancelled; }

}  // namespace detail

/// A candidate's state. Its calls share ownership, since a coroutine may outlive the Leader.
struct Leader::Desk {
  std::mutex mutex;
  bool under_way = false;                     // a call of lead or campaign
  const Hold* hold = nullptr;                 // of the current term
  std::stop_source ending{std::nostopstate};  // of the current term
};

/// One call of lead or campaign; there may be only one at a time.
class Leader::Call {
 public:
  explicit Call(const Leader& leader) : desk_(leader.desk_) {
    const std::lock_guard guard(desk_->mutex);
    if (std::exchange(desk_->under_way, true)) {
      throw Error(Errc::would_deadlock, leader.lock_.name(), {}, "this candidate leads or campaigns already");
    }
  }
  ~Call() {
    const std::lock_guard guard(desk_->mutex);
    desk_->under_way = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Desk& desk() const noexcept { return *desk_; }

 private:
  const std::shared_ptr<Desk> desk_;
};

/// Exists while a body runs: can ask it to end, and lets others see the term.
class Leader::Office {
 public:
  Office(Desk& desk, const Hold& hold, const std::stop_token& stop)
      : desk_(desk), on_lost_(hold.lost_token(), Ask{ending_}), on_stop_(stop, Ask{ending_}) {
    const std::lock_guard guard(desk_.mutex);
    desk_.hold = &hold;
    desk_.ending = ending_;
  }
  ~Office() {
    const std::lock_guard guard(desk_.mutex);
    desk_.hold = nullptr;
    desk_.ending = std::stop_source(std::nostopstate);
  }
  Office(const Office&) = delete;
  Office& operator=(const Office&) = delete;

  std::stop_token stop() const noexcept { return ending_.get_token(); }

 private:
  struct Ask {
    std::stop_source ending;
    void operator()() noexcept { ending.request_stop(); }
  };

  Desk& desk_;
  const std::stop_source ending_;
  const std::stop_callback<Ask> on_lost_;
  const std::stop_callback<Ask> on_stop_;
};

}  // namespace holdfast
