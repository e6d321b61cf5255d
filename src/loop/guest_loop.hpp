// SPDX-License-Identifier: Apache-2.0
// The event loop of a client that runs on the caller's io_context.
#pragma once

#include <functional>
#include <memory>

#include "base/guarded.hpp"
#include "loop/loop.hpp"

namespace holdfast::engine {

/// No thread of its own: whoever runs the io_context drives it, one thread or several, which take *turns*. Not Asio's
/// strand, which needs memory to go on and stays locked for ever if there is none: here what takes no turn now is in
/// the inbox, and a handler of a timer or a socket waits for its turn on the spot, since none takes long. Nobody may
/// wait for the loop, since nobody knows whether the caller is needed to drive it.
///
/// Falling asleep and being woken costs more than a round trip to a server nearby, so behind a write the loop keeps the
/// io_context awake for kSpin with a handler that posts itself again, among whatever else is ready: as long as replies
/// take less than kNear, one thread runs the io_context, and there is a processor to spare.
class GuestLoop final : public Loop {
 public:
  struct Hooks {
    /// See Loop.
    std::function<void()> settle;
    /// See OwnLoop.
    std::function<void()> recover = [] {};
  };
  GuestLoop(boost::asio::io_context& host, Hooks hooks);
  ~GuestLoop() override;

  /// Handlers keep `owner` alive from here on, so it may be forgotten while some are under way. Throws std::bad_alloc.
  void start(std::weak_ptr<void> owner);

  timing::Schedule& schedule() override { return schedule_; }
  bool inside() const override;
  void post_from_caller(std::shared_ptr<Task> task, Pace) override { post(std::move(task)); }
  void nudge() override {}
  void to_be_settled(std::size_t bytes) override;
  void answered(base::Duration took) override { near_ = took <= kNear; }
  void shut() noexcept override;

 private:
  static constexpr base::Duration kSpin = std::chrono::microseconds(60);
  static constexpr base::Duration kNear = std::chrono::microseconds(300);
  static constexpr base::Duration kAlone = std::chrono::seconds(1);  // since another thread was seen

  struct Turns;
  template <bool kPosts>
  class Executor;
  /// Part of the loop; posted again only when it has run.
  class Own final : public Task {
   public:
    Own(GuestLoop& loop, std::function<void()> run) : loop_(loop), run_(std::move(run)) {}
    void run() override { run_(); }
    void broken() noexcept override { loop_.trouble(); }
    std::shared_ptr<Task> unowned() { return {std::shared_ptr<void>(), this}; }

   private:
    GuestLoop& loop_;
    const std::function<void()> run_;
  };

  /// Inside, in a handler of its own; takes no memory.
  void run_soon(timing::HandlerSlot& slot, void (GuestLoop::*what)()) noexcept;
  void await_reply() noexcept;
  void spin();
  void wake() noexcept override;
  void trouble() noexcept override;
  void attend() override {}
  void attended() override {}

  const std::shared_ptr<Turns> turns_;
  base::Mutex host_mutex_;  // whoever has it finds the host there, unless the loop is shut
  timing::Schedule schedule_;
  std::weak_ptr<void> owner_;
  // Inside.
  bool settling_ = false;
  Own settling_soon_;
  bool troubled_ = false;
  Own recovering_;
  bool near_ = false;
  bool spinning_ = false;
  base::TimePoint spin_until_{}, spun_at_{};
  const void* thread_ = nullptr;  // the last that settled
  base::TimePoint alone_from_{};
};

}  // namespace holdfast::engine
