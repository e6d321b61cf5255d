// One of many candidates does something, and the others stand by.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fenced_lock.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// One time as leader, as the body of Leader::lead sees it. Only valid while the body runs; any of its threads may use
/// it.
class Term {
 public:
  /// Stops when the body is to end: the lock was lost, Leader::step_down() was called, or the caller's own `stop` was
  /// requested. As with Hold::lost_token() it may be late by what a thread needs to be scheduled; `leads()` is not.
  const std::stop_token& stop() const noexcept { return stop_; }
  /// True as long as nobody else can lead, by the clock, and this one is not asked to end: check it before each step.
  bool leads() const noexcept { return !stop_.stop_requested() && valid_for() > std::chrono::milliseconds::zero(); }
  /// See Hold::valid_for().
  std::chrono::milliseconds valid_for() const noexcept { return hold_.valid_for(); }
  /// Larger than that of every term before it, whoever's: for a store that refuses lower ones (docs/fencing.md).
  std::int64_t token() const noexcept { return token_; }

 private:
  friend class Leader;
  Term(const Hold& hold, std::stop_token stop, std::int64_t token) noexcept
      : hold_(hold), stop_(std::move(stop)), token_(token) {}

  const Hold& hold_;
  const std::stop_token stop_;
  const std::int64_t token_;
};

/// Why a term ended.
enum class TermEnd : std::uint8_t {
  finished,      ///< The body returned by itself.
  stepped_down,  ///< It was asked to: by Leader::step_down(), or by the caller's `stop`.
  lost,          ///< The lock was lost first. Somebody else may have led since.
};
HOLDFAST_EXPORT const char* to_string(TermEnd end) noexcept;

struct CampaignOptions {
  /// Ends the campaign: the wait at once, a term as soon as its body has returned.
  std::stop_token stop{};
  /// How long it stands back after a term that was not lost, so that another candidate can have the next one.
  std::chrono::milliseconds rest{1000};
  /// Called for each failure to ask for the lock that is tried again, on the campaigning thread. Empty: nobody is told.
  std::function<void(const Error&)> on_trouble{};
};

/// A candidate: of all that use the lock of one name, on any machine, at most one leads, and only it runs its body.
///
///     holdfast::Leader leader{client.fenced_lock("scheduler", {.lease = holdfast::renewed(10s)})};
///     leader.campaign([&](const holdfast::Term& term) {
///       while (term.leads()) schedule_next(term.token());
///     }, {.stop = shutdown});
///
/// The body runs on the thread that called, and always ends before the lock is given away, also when it throws. While
/// it is told to end and does not, this candidate asks for nothing, and after a loss nothing but the fencing token
/// keeps what it still does apart from what the next leader does. Made of a FencedLock and nothing else: Redisson sees
/// an ordinary RFencedLock. Who leads now: `lock().info()`, `holdfast elect --watch`.
///
/// A leader that ends properly is followed at once; one whose process or machine dies when its lease is over, so choose
/// a short one. Threads: one call of `lead`, `campaign` or their asynchronous twins at a time; the others from any
/// thread, and from the body. Destroy it when no call is under way. Wire cost: as FencedLock.
class HOLDFAST_EXPORT Leader {
 public:
  using Body = std::function<void(const Term&)>;

  /// The lock's defaults apply to every term: its lease above all. A fixed one, or `max_hold`, is a limit on the term,
  /// which ends as lost then.
  explicit Leader(FencedLock lock);
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// One term: waits to become leader as BasicLock::acquire does, with the same errors, runs the body, gives the lock
  /// back, and returns why it ended; `lost` also if only the release found that. What the body throws is thrown on,
  /// after the release. `stop` among the options ends the wait (Error(cancelled)) and asks a running body to end.
  /// Throws Error(would_deadlock) if a call of this object is under way, in its own body too.
  TermEnd lead(const Body& body, const AcquireOptions& options = {});

  /// Terms, one after another, until `stop`, for which it returns. A server that cannot be reached is tried again, for
  /// ever; every other Error is thrown, and what a body throws.
  void campaign(const Body& body, const CampaignOptions& options = {});

  /// As lead(), for a body that is a coroutine, `awaitable<void>(const Term&)`, and without blocking, also on a client
  /// made by client_on(): gives an `awaitable<TermEnd>`, and does nothing until that is awaited. When the term is to
  /// end the body is cancelled (`terminal`) beside what `Term::stop()` tells, and awaited; that it then ended because
  /// it was cancelled is no error. Cancelled itself, the call ends its wait with Error(cancelled), or cancels the body,
  /// gives the lock back and throws what the body threw. The release is not cancelled, and takes at most
  /// `Config::release_timeout`. Defined by async.hpp.
  template <class CoBody>
  auto async_lead(CoBody body, AcquireOptions options);
  template <class CoBody>
  auto async_lead(CoBody body);

  /// As campaign(), for such a body: gives an `awaitable<void>`. `on_trouble` runs in the coroutine. Cancelled itself,
  /// it ends as async_lead() does, and throws. Defined by async.hpp.
  template <class CoBody>
  auto async_campaign(CoBody body, CampaignOptions options);
  template <class CoBody>
  auto async_campaign(CoBody body);

  /// Asks the body of the current term to end; the lock is given back once it has. Does not wait for that. No effect
  /// between terms.
  void step_down() noexcept;

  /// True from the grant to the end of the body, as long as the lock is certainly ours.
  bool leads() const noexcept;

  /// The lock: who leads, as the server has it.
  const FencedLock& lock() const noexcept { return lock_; }

 private:
  struct Desk;
  class Call;
  class Office;
  class Async;
  TermEnd serve(const Body& body, Hold hold, const std::stop_token& stop);

  const FencedLock lock_;
  const std::shared_ptr<Desk> desk_;
};

}  // namespace holdfast
