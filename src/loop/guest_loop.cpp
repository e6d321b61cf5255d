// SPDX-License-Identifier: Apache-2.0
#include "loop/guest_loop.hpp"

#include <utility>

#include <boost/asio/execution.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"

namespace holdfast::engine {
namespace {

namespace execution = boost::asio::execution;

/// Bytes of commands that make a write worth while.
constexpr std::size_t kEnough = 1024;

}  // namespace

/// What the loop's executors and the handler that empties its inbox need, whatever outlives what.
struct GuestLoop::Turns {
  explicit Turns(boost::asio::io_context& the_host) : host(the_host) {}

  /// What the function throws is the loop's affair, and not that of whoever runs the io_context. Nothing runs in the
  /// child of a fork, where the mutex may be locked for ever.
  template <class Function>
  void take(Function&& function) noexcept {
    if (fork_guard.in_child()) return;
    if (here == this) return run(function);
    const base::Guard turn(mutex);
    const Turns* const before = std::exchange(here, this);
    run(function);
    here = before;
  }

  static thread_local const Turns* here;  // in which this thread is
  boost::asio::io_context& host;
  const base::ForkGuard fork_guard{};
  timing::HandlerSlot waking, spinning;
  base::Mutex mutex;
  GuestLoop* loop = nullptr;  // while there is one; it goes away inside, or when no handler is left

 private:
  template <class Function>
  void run(Function& function) noexcept {
    try {
      function();
    } catch (...) {
      if (loop != nullptr) loop->trouble();
    }
  }
};

thread_local const GuestLoop::Turns* GuestLoop::Turns::here = nullptr;

/// For Asio: what completes runs in the turn of whoever completes it, and so needs no memory; what is posted goes into
/// the inbox.
template <bool kPosts>
class GuestLoop::Executor {
 public:
  explicit Executor(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {}

  boost::asio::execution_context& query(execution::context_t) const noexcept { return turns_->host; }
  static constexpr execution::blocking_t query(execution::blocking_t) noexcept {
    if constexpr (kPosts) return execution::blocking.never;
    return execution::blocking.always;
  }
  Executor<true> require(execution::blocking_t::never_t) const { return Executor<true>(turns_); }

  template <class Function>
  void execute(Function&& function) const {
    const std::shared_ptr<Turns> turns = turns_;  // the function may end all else
    if constexpr (!kPosts) {
      turns->take(function);
    } else if (turns->loop != nullptr) {
      turns->loop->defer(std::forward<Function>(function));
    }
  }
  friend bool operator==(const Executor& a, const Executor& b) noexcept { return a.turns_ == b.turns_; }
  friend bool operator!=(const Executor& a, const Executor& b) noexcept { return a.turns_ != b.turns_; }

 private:
  std::shared_ptr<Turns> turns_;
};

GuestLoop::GuestLoop(boost::asio::io_context& host, Hooks hooks)
    : Loop(host, DefersBy::posting, hooks.settle),
      turns_(std::make_shared<Turns>(host)),
      schedule_(Executor<false>(turns_)),
      settling_soon_(*this,
                     [this] {
                       settling_ = false;
                       settle();
                       await_reply();
                     }),
      recovering_(*this, [this, recover = std::move(hooks.recover)] {
        troubled_ = false;
        recover();
        settle();
      }) {
  turns_->loop = this;
}

GuestLoop::~GuestLoop() { turns_->loop = nullptr; }

void GuestLoop::start(std::weak_ptr<void> owner) {
  owner_ = std::move(owner);
  schedule_.start(owner_);
}

bool GuestLoop::inside() const { return Turns::here == turns_.get(); }

void GuestLoop::run_soon(timing::HandlerSlot& slot, void (GuestLoop::*what)()) noexcept {
  std::shared_ptr<void> owner = owner_.lock();
  if (owner == nullptr) return;  // it is going away
  const base::Guard guard(host_mutex_);
  if (is_shut()) return;
  timing::post_in(slot, turns_->host, [this, what, turns = turns_, owner = std::move(owner)] {
    turns->take([this, what] { (this->*what)(); });
  });
}

void GuestLoop::wake() noexcept { run_soon(turns_->waking, &GuestLoop::take_inbox); }

/// With several threads one handler that posts itself again would wake one thread after another.
void GuestLoop::await_reply() noexcept {
  const base::TimePoint now = base::Clock::now();
  const void* const before = std::exchange(thread_, &Turns::here);
  if (before != nullptr && before != thread_) alone_from_ = now + kAlone;
  if (!near_ || now < alone_from_ || spare_processors() == 0) return;
  spin_until_ = now + kSpin;
  if (spinning_) return;
  spinning_ = true;
  run_soon(turns_->spinning, &GuestLoop::spin);
}

void GuestLoop::spin() {
  const base::TimePoint now = base::Clock::now();
  // A clock that is moved by hand stands still while it spins.
  spinning_ =
      now < spin_until_ && now != std::exchange(spun_at_, now) && thread_ == static_cast<const void*>(&Turns::here);
  if (spinning_) run_soon(turns_->spinning, &GuestLoop::spin);
}

void GuestLoop::shut() noexcept {
  {
    const base::Guard guard(host_mutex_);  // nobody posts on the host from here on
    refuse();
  }
  Loop::shut();
}

/// Settles behind what is ready to run now, so that a few commands leave in one write. Many leave in several, so that
/// the server works on the first while the rest are made.
void GuestLoop::to_be_settled(std::size_t bytes) {
  if (bytes >= kEnough) return settle();
  if (!std::exchange(settling_, true)) post(settling_soon_.unowned());
}

void GuestLoop::trouble() noexcept {
  if (!std::exchange(troubled_, true)) post(recovering_.unowned());
}

}  // namespace holdfast::engine
