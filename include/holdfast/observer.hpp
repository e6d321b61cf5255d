// SPDX-License-Identifier: Apache-2.0
// What a client tells: events as they happen, and metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

struct GrantedEvent {
  std::string name;
  std::string owner;                   ///< As on the wire: `<client uuid>:<number>`.
  std::chrono::nanoseconds waited{};   ///< From the call to the grant.
  bool contended = false;              ///< Somebody else held it at first, perhaps in this client.
  std::chrono::nanoseconds waiting{};  ///< Of `waited`: from its WaitingEvent to the grant. 0: there was none.
  std::chrono::nanoseconds woken{};    ///< From its last wake-up to the grant. 0: none, it retried by itself.
};
struct RenewedEvent {
  std::size_t holds = 0;            ///< Holds that this batch extended.
  std::chrono::nanoseconds late{};  ///< How long after its planned time the batch's oldest renewal was sent.
};
/// Reported once per incident.
struct SuspectEvent {
  std::string name, owner;
  std::string cause;                     ///< Why the renewal failed.
  std::chrono::nanoseconds valid_for{};  ///< What is left until the deadline, as by Hold::valid_for().
};
struct LostEvent {
  std::string name, owner;
  LossReason reason = LossReason::expired;
};
struct ReleasedEvent {
  std::string name, owner;
  ReleaseOutcome outcome = ReleaseOutcome::unknown;
  std::chrono::nanoseconds held{};
};
struct UnknownEvent {
  enum class Operation : std::uint8_t { acquire, release };
  std::string name, owner;
  Operation operation = Operation::acquire;
  std::string cause;
};
HOLDFAST_EXPORT const char* to_string(UnknownEvent::Operation operation) noexcept;
/// A call that had no effect because of a mistake by the caller, and cannot report that itself.
struct MisuseEvent {
  std::string name;
  std::string cause;  ///< `unlock() by a thread that does not hold it`.
};
struct SafetyPollEvent {
  std::string name;
  bool granted = false;  ///< True: a wake-up message was missed; the poll found the lock free.
};
/// Also reported for each failed attempt to connect.
struct ConnectionEvent {
  std::string node;
  bool connected = false;
  std::uint64_t times = 0;  ///< How many connections there have been so far.
  std::string cause;        ///< When not connected: why.
  bool needed = true;       ///< False: this client closed it, since it does not need that server now.
};

/// A call starts to wait: somebody else holds the lock, other callers of this client come first, or the required acks
/// are missing. Not for a call that tries only once.
struct WaitingEvent {
  std::string name;
  std::string waiter;  ///< Identifies the wait, in the form of an owner; the same in WaitEndedEvent.
  std::string cause;   ///< Why it waits, if that is known: this process holds it itself, one of several locks is taken,
                       ///< nobody has set how many permits there are, there are fewer in all than asked for, or which
                       ///< acks are missing.
};
/// The end of that wait, for any reason.
struct WaitEndedEvent {
  std::string name;
  std::string waiter;
  WaitOutcome outcome = WaitOutcome::failed;
  std::string cause;  ///< When failed: why.
  std::chrono::nanoseconds waited{};
};

/// Receives events. Derive, override what you need, and set it as `Config::observer`.
/// Threads: all calls of one client come from that client's notifier thread, one after another, never under a mutex and
/// never on the thread that talks to the server. A slow observer delays other events and `on_lost` callbacks, but not
/// renewals, loss signals (Hold::lost_token()) or `Hold::valid_for()`. A client made by client_on() of async.hpp has no
/// threads: its calls run on the io_context, also one after another, and a call that blocks there delays everything but
/// `Hold::valid_for()`. Up to 10,000 events wait for an observer; any beyond that are dropped and counted in
/// `Counters::events_dropped`. `on_lost` callbacks of single acquisitions are never dropped, and come before waiting
/// events. Exceptions that escape are swallowed. Do not destroy the client in a callback.
class HOLDFAST_EXPORT Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_granted(const GrantedEvent&) {}
  virtual void on_renewed(const RenewedEvent&) {}
  virtual void on_suspect(const SuspectEvent&) {}
  virtual void on_lost(const LostEvent&) {}
  virtual void on_released(const ReleasedEvent&) {}
  virtual void on_unknown(const UnknownEvent&) {}
  virtual void on_misuse(const MisuseEvent&) {}
  virtual void on_safety_poll(const SafetyPollEvent&) {}
  virtual void on_connection(const ConnectionEvent&) {}
  virtual void on_waiting(const WaitingEvent&) {}
  virtual void on_wait_ended(const WaitEndedEvent&) {}
};

/// A snapshot of what a client has counted since it was created, and of its present state. Read with
/// `Client::counters()`.
struct Counters {
  std::uint64_t granted = 0;    ///< Outermost acquisitions that succeeded; of a Semaphore, and waits for a Latch, too.
  std::uint64_t contended = 0;  ///< Of those: had to wait for somebody else.
  std::uint64_t not_granted = 0;  ///< Busy, timed out, cancelled or crowded.
  std::uint64_t failed = 0;       ///< Acquisitions that ended in an error; not those on a closed or forked client.
  std::uint64_t released = 0;
  std::uint64_t renewals = 0;          ///< Holds extended (not commands).
  std::uint64_t renewal_batches = 0;   ///< Renewal commands sent.
  std::uint64_t renewal_failures = 0;  ///< Renewal commands without a usable reply.
  std::uint64_t suspect = 0;
  std::uint64_t lost = 0;
  std::uint64_t unknown = 0;            ///< Acquires and releases of unknown outcome; resolved later, or expired.
  std::uint64_t misuses = 0;            ///< See MisuseEvent.
  std::uint64_t wakes = 0;              ///< Wake-up messages received.
  std::uint64_t safety_polls = 0;       ///< Attempts made only because no message came for a while.
  std::uint64_t safety_poll_wakes = 0;  ///< Of those: found it free; a message was missed, or none was sent (FLUSHALL).
  std::uint64_t connections = 0;        ///< Connections made, the first included.
  std::uint64_t commands = 0;  ///< Transitions and queries sent; not logins, SUBSCRIBE, or the connection's PINGs.
  std::uint64_t watched = 0;   ///< Keys of holds that have lasted long enough to be watched (Config::loss_notice).
  std::uint64_t notices = 0;   ///< Changes of those keys that the server reported, own renewals among them.
  std::uint64_t watch_refusals = 0;  ///< Connections on which the server reports none (no CLIENT TRACKING).
  std::uint64_t acks_waits = 0;      ///< WAIT and WAITAOF sent: each for all grants and renewals that came together.
  std::uint64_t acks_missed = 0;     ///< Grants, and renewal commands, without the required confirmations.
  std::uint64_t events_dropped = 0;  ///< Events that did not reach the observer, since 10,000 were already waiting
                                     ///< for it or memory was short.
  std::uint64_t local_handoffs = 0;  ///< Holds that were passed on to another caller of this client.
  // The present state: these rise and fall.
  std::uint64_t holding = 0;  ///< Holds that stand.
  std::uint64_t waiting = 0;  ///< Calls that wait, as in WaitingEvent.
};

/// What distinguishes the metrics of a family: `result="granted"`.
struct MetricLabel {
  std::string name;
  std::string value;  ///< Any UTF-8; it is escaped when it is written.
};

/// One set of labels, and the values measured for it.
struct Metric {
  std::vector<MetricLabel> labels{};
  double value = 0;  ///< Of a counter, a gauge or an info (1).
  /// Of a histogram: for each bound of the family, how many values were up to it and above the previous bound; then one
  /// more for values above all bounds. Their sum is the count.
  std::vector<std::uint64_t> buckets{};
  double sum = 0;  ///< Of a histogram: of all values.
};

/// Metrics of the same name.
struct MetricFamily {
  enum class Type : std::uint8_t { counter, gauge, histogram, info };
  std::string name;  ///< Without the `_total` of a counter and the `_info` of an info.
  Type type = Type::gauge;
  std::string help{};
  std::vector<double> bounds{};  ///< Of a histogram: growing.
  std::vector<Metric> metrics{};
};

/// A snapshot: Client::metrics(). A plain value; add families of your own to it if you like. The families of a client
/// are listed in docs/operations.md, and all of them are there from the beginning, with zeros.
struct HOLDFAST_EXPORT Metrics {
  std::vector<MetricFamily> families;

  /// The family of this name (`holdfast_lost`); null: there is none. Valid as long as `families` is not changed.
  const MetricFamily* find(std::string_view name) const noexcept;

  /// As text in the format OpenMetrics 1.0 (`application/openmetrics-text; version=1.0.0; charset=utf-8`).
  void write_openmetrics(std::ostream& out) const;
  /// As text in the older format of Prometheus (`text/plain; version=0.0.4; charset=utf-8`), which the textfile
  /// collector of node_exporter reads.
  void write_prometheus(std::ostream& out) const;
};

/// A class for a lock's name, for Config::lock_class: the parts that vary become `*`. These are each UUID, each word of
/// hexadecimal digits that contains one of 0 to 9 or has eight digits or more (with or without `0x`), and in other
/// words each run of decimal digits: `order:4711` is in `order:*`, `invoice-2026-08.pdf` in `invoice-*-*.pdf`,
/// `job/9f1c` in `job/*`.
HOLDFAST_EXPORT std::string lock_class(std::string_view name);

}  // namespace holdfast
