// SPDX-License-Identifier: Apache-2.0
#include "lock/client/closing.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "lock/hold/hold_events.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/runtime/job.hpp"
#include "loop/alarm.hpp"

namespace holdfast::engine {
namespace {

class GivingBack final : public Job<std::size_t>, public std::enable_shared_from_this<GivingBack> {
 public:
  explicit GivingBack(Core& core, Done done = {}) : Job(std::move(done)), core_(core) {}

  void run() override {
    for (const std::shared_ptr<Target>& target : core_.targets().all(Targets::Which::own)) target->end_waits();
    const std::vector<std::shared_ptr<Tenancy>> holds = core_.watchdog().armed();
    unconfirmed->store(holds.size());
    under_way_ = holds.size() + 1;
    for (const std::shared_ptr<Tenancy>& hold : holds) give_back(*hold);
    on_end();
  }
  void broken() noexcept override { tell(unconfirmed->load()); }

  const std::shared_ptr<std::atomic<std::size_t>> unconfirmed = std::make_shared<std::atomic<std::size_t>>(0);

 private:
  void give_back(Tenancy& hold) {
    on_closed(hold);
    try {
      const bool begun = give_up(hold, [self = shared_from_this()](ReleaseOutcome outcome) {
        if (outcome != ReleaseOutcome::unknown) --*self->unconfirmed;
        self->on_end();
      });
      if (begun) return;
      --*unconfirmed;  // its holder releases it
    } catch (...) {
      // Out of memory: its lease ends it.
    }
    on_end();
  }
  void on_end() noexcept {
    if (--under_way_ == 0) tell(unconfirmed->load());
  }

  Core& core_;
  std::size_t under_way_ = 0;
};

}  // namespace

std::size_t give_back_all(Core& core, TimePoint until) {
  const auto giving_back = std::make_shared<GivingBack>(core);
  GivingBack::wait(*core.runtime().own_loop(), giving_back, until);
  return giving_back->unconfirmed->load();
}

std::shared_ptr<const std::atomic<std::size_t>> give_back_all_async(Core& core,
                                                                    std::function<void(std::size_t unconfirmed)> done) {
  const auto giving_back = std::make_shared<GivingBack>(core, std::move(done));
  giving_back->run();
  return giving_back->unconfirmed;
}

namespace {

constexpr milliseconds kUndoLimit{100};
/// How often it restarts when there is no memory.
constexpr int kMostTries = 100;

/// Ends waits; releases or leaves holds, as configured; lets pending attempts get their answers; then closes the
/// connection. All within `release_timeout`; if only undos are left, it waits for them 100 or 200 ms at most. Keeps
/// itself alive.
class Closing final : public std::enable_shared_from_this<Closing> {
 public:
  explicit Closing(std::shared_ptr<Core> core)
      : core_(std::move(core)),
        attended_(core_->runtime().loop()),
        alarm_(core_->runtime().loop().schedule(), [this] { look_.run_or_again(); }) {}
  /// From any thread, once. Does not allocate.
  void start() { take(begin_); }

 private:
  /// Runs on the loop. Posting it does not allocate; if it fails for lack of memory, it is repeated.
  class Step final : public Loop::Task {
   public:
    Step(Closing& closing, void (Closing::*step)()) : closing_(closing), step_(step) {}
    void run() override { (closing_.*step_)(); }
    void broken() noexcept override { closing_.again(*this); }
    void run_or_again() noexcept {
      try {
        run();
      } catch (...) {
        broken();
      }
    }

   private:
    Closing& closing_;
    void (Closing::* const step_)();
  };

  void take(Step& step) noexcept {
    core_->runtime().loop().post(std::shared_ptr<Loop::Task>(shared_from_this(), &step));
  }
  /// Repeats a step; parts that are already done have no effect the second time.
  void again(Step& step) noexcept {
    if (++tries_ < kMostTries) return take(step);
    try {
      finish();
    } catch (...) {
      // Callers waiting for it have a limit.
    }
  }
  void begin() {
    open_ = core_->targets().all(Targets::Which::own);
    for (const std::shared_ptr<Target>& target : open_) target->end_waits();
    end_ = base::Clock::now() + core_->runtime().config().timing.release_timeout;
    watch();
    end_holds();
  }
  /// An undo seen here has already been sent, and nobody waits for its outcome.
  void watch() { alarm_.set(std::min(end_, base::Clock::now() + kUndoLimit), shared_from_this()); }
  void look() {
    Runtime& runtime = core_->runtime();
    if (base::Clock::now() >= end_ || runtime.pending().count() <= runtime.undos().count()) return finish();
    watch();
  }
  /// Runs twice: a grant that still arrives is released, and one that arrived while the holds were being ended is found
  /// by the second run; there can be none after that.
  void end_holds() {
    for (const std::shared_ptr<Tenancy>& hold : core_->watchdog().armed()) end_at_close(*hold);
    core_->runtime().pending().when_none([self = shared_from_this()] { self->take(self->none_left_); });
  }
  void on_none_left() {
    if (core_->runtime().over()) return;
    if (!ended_twice_) {
      end_holds();
      ended_twice_ = true;
      return;
    }
    alarm_.cancel();
    finish();
  }
  void finish() {
    if (core_->runtime().over()) return;
    core_->runtime().pending().when_none({});
    for (const std::shared_ptr<Target>& target : open_) target->threads().forget_all();
    core_->end();
  }

  const std::shared_ptr<Core> core_;
  const Loop::Attended attended_;
  // On the loop.
  std::vector<std::shared_ptr<Target>> open_;
  TimePoint end_{};
  timing::Alarm alarm_;
  bool ended_twice_ = false;  // the holds
  int tries_ = 0;
  Step begin_{*this, &Closing::begin};
  Step look_{*this, &Closing::look};
  Step none_left_{*this, &Closing::on_none_left};
};

/// False: no memory; nothing has begun.
bool try_to_close(const std::shared_ptr<Core>& core) noexcept {
  try {
    if (core->runtime().own_loop() == nullptr) {
      start_close(core, {});
      return true;
    }
    const auto closed = std::make_shared<std::promise<void>>();
    start_close(core, [closed] { closed->set_value(); });
    closed->get_future().wait_for(core->runtime().config().timing.release_timeout + Runtime::kRunOut);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void start_close(const std::shared_ptr<Core>& core, std::function<void()> done) {
  const auto closing = std::make_shared<Closing>(core);  // before anything irreversible
  if (core->begin_close(done)) closing->start();
  if (done) done();
}

/// If there is no memory all that time, holds and attempts end with their leases.
void close_and_wait(const std::shared_ptr<Core>& core) noexcept {
  constexpr milliseconds kTryAgain{1};
  const bool may_wait = core->runtime().own_loop() != nullptr;
  const TimePoint end = base::Clock::now() + core->runtime().config().timing.release_timeout;
  while (!try_to_close(core) && may_wait && base::Clock::now() < end) std::this_thread::sleep_for(kTryAgain);
  core->stop_threads();
}

}  // namespace holdfast::engine
