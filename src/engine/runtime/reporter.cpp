#include "engine/runtime/reporter.hpp"

namespace holdfast::engine {

Counters Reporter::snapshot() const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  Counters out;
  out.granted = read(count.granted);
  out.contended = read(count.contended);
  out.not_granted = read(count.not_granted);
  out.failed = read(count.failed);
  out.released = read(count.released);
  out.renewals = read(count.renewals);
  out.renewal_batches = read(count.renewal_batches);
  out.renewal_failures = read(count.renewal_failures);
  out.suspect = read(count.suspect);
  out.lost = read(count.lost);
  out.unknown = read(count.unknown);
  out.misuses = read(count.misuses);
  out.wakes = read(count.wakes);
  out.safety_polls = read(count.safety_polls);
  out.safety_poll_wakes = read(count.safety_poll_wakes);
  out.connections = read(count.connections);
  out.commands = read(count.commands);
  out.watched = read(count.watched);
  out.notices = read(count.notices);
  out.watch_refusals = read(count.watch_refusals);
  out.acks_waits = read(count.acks_waits);
  out.acks_missed = read(count.acks_missed);
  out.events_dropped = read(count.events_dropped);
  out.local_handoffs = read(count.local_handoffs);
  out.waiting = read(count.waiting);
  return out;
}

}  // namespace holdfast::engine
