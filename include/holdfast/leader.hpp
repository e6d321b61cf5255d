// SPDX-License-Identifier: Apache-2.0
// One of many candidates leads, and the others stand by.
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
#include <holdfast/hold.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// One term as leader, as the body of Leader::lead sees it. Only valid while the body runs; any of its threads may use
/// it.
class Term {
 public:
  /// Stops when the body is to end: the lock was lost, Leader::step_down() was called, or the caller's own `stop` was
  /// requested. As with Hold::lost_token() it may be late by a thread's scheduling delay; `leads()` is not.
  const std::stop_token& stop_token() const noexcept { return stop_; }
  /// True as long as, by the clock, nobody else can lead and this term has not been asked to end: check it before each
  /// step.
  bool leads() const noexcept { return !stop_.stop_requested() && valid_for() > std::chrono::milliseconds::zero(); }
  /// See Hold::valid_for().
  std::chrono::milliseconds valid_for() const noexcept { return hold_.valid_for(); }
  /// Larger than that of every earlier term of any leader: for a store that rejects lower ones (docs/fencing.md).
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
  /// How long it pauses after a term that was not lost, so that another candidate can have the next one.
  std::chrono::milliseconds rest{1000};
  /// Called, on the campaigning thread, for each failed attempt that will be retried. Empty: no notification.
  std::function<void(const Error&)> on_trouble{};
};

/// A candidate: of all candidates for one lock name, on any machine, at most one leads, and only it runs its body.
///
///     holdfast::Leader leader{client.fenced_lock("scheduler", {.lease = holdfast::renewed(10s)})};
///     leader.campaign([&](const holdfast::Term& term) {
///       while (term.leads()) schedule_next(term.token());
///     }, {.stop = shutdown});
///
/// The body runs on the thread that called, and always ends before the lock is released, also when it throws. A leader
/// that dies has a successor when its lease is over. Destroy it when no blocking call is under way.
/// Threads: one call of `lead`, `campaign` or their asynchronous twins at a time; the others from any thread. Cost: as
/// FencedLock. More: docs/kinds.md.
class HOLDFAST_EXPORT Leader {
 public:
  using Body = std::function<void(const Term&)>;

  /// The lock's defaults apply to every term: its lease above all. A fixed one, or `max_hold`, is a limit on the term,
  /// which ends as lost then.
  explicit Leader(FencedLock lock);
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// One term: waits to become leader as BasicLock::acquire does, with the same errors, runs the body, releases the
  /// lock, and returns why it ended; `lost` also if only the release discovered that. An exception of the body is
  /// rethrown after the release. `stop` among the options ends the wait (Error(cancelled)) and asks a running body to
  /// end. Throws Error(would_deadlock) if another call of this object is running, also from within its own body.
  TermEnd lead(const Body& body, const AcquireOptions& options = {});

  /// Terms, one after another, until `stop` is requested; then it returns. After a failure that may pass
  /// (Error::may_pass) it tries again every second, for ever: the server is away, loads its data, has too few replicas,
  /// is out of memory, refuses a login that it accepted before. Client::release_all() ends a term or a wait, and the
  /// campaign goes on. Every other Error is thrown, such as a first login that is refused, and what a body throws.
  void campaign(const Body& body, const CampaignOptions& options = {});

  /// As lead(), for a body that is a coroutine, `awaitable<void>(const Term&)`, and without blocking, also on a client
  /// made by client_on(): gives an `awaitable<TermEnd>`, and does nothing until that is awaited. When the term is to
  /// end, `Term::stop_token()` stops, and the body is also cancelled (`terminal`) and awaited; ending because of that
  /// cancellation is no error. If the call itself is cancelled, it ends its wait with Error(cancelled), or cancels the
  /// body, releases the lock and throws what the body threw. The release is not cancelled, and takes at most
  /// `Timing::release_timeout`. Defined by async.hpp.
  template <class CoBody>
  auto async_lead(CoBody body, AcquireOptions options);
  template <class CoBody>
  auto async_lead(CoBody body);

  /// As campaign(), for such a body: gives an `awaitable<void>`. `on_trouble` runs in the coroutine. If cancelled
  /// itself, it ends as async_lead() does, and throws. Defined by async.hpp.
  template <class CoBody>
  auto async_campaign(CoBody body, CampaignOptions options);
  template <class CoBody>
  auto async_campaign(CoBody body);

  /// Asks the body of the current term to end; the lock is released once it has. Does not wait for that. No effect
  /// between terms.
  void step_down() noexcept;

  /// True from the grant to the end of the body, as long as the lock is certainly ours.
  bool leads() const noexcept;

  /// The lock, for queries such as who leads according to the server.
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
