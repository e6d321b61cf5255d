#include <condition_variable>
#include <utility>

#include <holdfast/error.hpp>
#include <holdfast/leader.hpp>

namespace holdfast {
namespace {

using std::chrono::milliseconds;

/// Between two attempts at a server that could not be asked.
constexpr milliseconds kPause{1000};

/// What may be over the next time.
bool may_pass(const Error& error) {
  for (const Errc code :
       {Errc::unreachable, Errc::unknown_outcome, Errc::read_only, Errc::out_of_memory, Errc::durability_not_met}) {
    if (error.code() == code) return true;
  }
  return false;
}

/// Ends early once it is stopped.
void pause(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock guard(mutex);
  stopped.wait_for(guard, stop, time, [] { return false; });
}

}  // namespace

const char* to_string(TermEnd end) noexcept {
  switch (end) {
    case TermEnd::finished:
      return "finished";
    case TermEnd::stepped_down:
      return "stepped_down";
    case TermEnd::lost:
      return "lost";
  }
  return "?";
}

/// One call of lead or campaign; two would be in each other's way.
class Leader::Call {
 public:
  explicit Call(Leader& leader) : leader_(leader) {
    const std::lock_guard guard(leader_.mutex_);
    if (std::exchange(leader_.under_way_, true)) {
      throw Error(Errc::would_deadlock, leader_.lock_.name(), {}, "this candidate leads or campaigns already");
    }
  }
  ~Call() {
    const std::lock_guard guard(leader_.mutex_);
    leader_.under_way_ = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Leader& leader_;
};

/// While a body runs: what can ask it to end, and what others may know of it.
class Leader::Office {
 public:
  Office(Leader& leader, const Hold& hold, const std::stop_token& stop)
      : leader_(leader), on_lost_(hold.lost_token(), Ask{ending_}), on_stop_(stop, Ask{ending_}) {
    const std::lock_guard guard(leader_.mutex_);
    leader_.hold_ = &hold;
    leader_.ending_ = ending_;
  }
  ~Office() {
    const std::lock_guard guard(leader_.mutex_);
    leader_.hold_ = nullptr;
    leader_.ending_ = std::stop_source(std::nostopstate);
  }
  Office(const Office&) = delete;
  Office& operator=(const Office&) = delete;

  std::stop_token stop() const noexcept { return ending_.get_token(); }

 private:
  struct Ask {
    std::stop_source ending;
    void operator()() noexcept { ending.request_stop(); }
  };

  Leader& leader_;
  const std::stop_source ending_;
  const std::stop_callback<Ask> on_lost_;
  const std::stop_callback<Ask> on_stop_;
};

/// The body has returned, or thrown, before the lock is given away: nothing here may come in between.
TermEnd Leader::serve(const Body& body, Hold hold, const std::stop_token& stop) {
  bool asked = false;
  try {
    const Office office(*this, hold, stop);
    body(Term(hold, office.stop(), hold.token().value()));
    asked = office.stop().stop_requested();
  } catch (...) {
    hold.release();
    throw;
  }
  hold.release();
  if (hold.is_lost()) return TermEnd::lost;
  return asked ? TermEnd::stepped_down : TermEnd::finished;
}

TermEnd Leader::lead(const Body& body, const AcquireOptions& options) {
  const Call call(*this);
  return serve(body, lock_.acquire(options), options.stop);
}

void Leader::campaign(const Body& body, const CampaignOptions& options) {
  const Call call(*this);
  while (!options.stop.stop_requested()) {
    Hold hold;
    try {
      hold = lock_.acquire({.wait = milliseconds::max(), .stop = options.stop});
    } catch (const Error& error) {
      if (error.code() == Errc::cancelled) return;
      if (!may_pass(error)) throw;
      if (options.on_trouble) options.on_trouble(error);
      pause(kPause, options.stop);
      continue;
    }
    if (serve(body, std::move(hold), options.stop) != TermEnd::lost) pause(options.rest, options.stop);
  }
}

void Leader::step_down() noexcept {
  std::stop_source ending(std::nostopstate);
  {
    const std::lock_guard guard(mutex_);
    ending = ending_;
  }
  ending.request_stop();  // runs the body's own callbacks
}

bool Leader::leads() const noexcept {
  const std::lock_guard guard(mutex_);
  return hold_ != nullptr && hold_->valid_for() > milliseconds::zero();
}

}  // namespace holdfast
