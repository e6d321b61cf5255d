// SPDX-License-Identifier: Apache-2.0
#include "chaos/faults.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace holdfast::test::chaos {
namespace {

using enum Fault;
using enum Exclusion;
constexpr Track kClients = Track::clients;
constexpr Track kServers = Track::servers;

constexpr std::array kFaults = std::to_array<FaultTraits>({
    {process_killed, "process killed", kClients, promised},
    {process_stopped, "process stopped", kClients, promised, 10, 60},
    {process_stopped_past_lease, "process stopped past its lease", kClients, promised, 110, 180},
    {links_cut, "links cut", kClients, promised},
    {links_half_open, "links half open", kClients, promised, 20, 180},
    {links_slow, "links slow", kClients, promised, 30, 120},
    {requests_swallowed, "requests swallowed", kClients, promised, 20, 180},
    {replies_swallowed, "replies swallowed", kClients, promised, 20, 180},
    {reply_lost, "reply lost after execution", kClients, promised},
    {request_late, "request late", kClients, promised, 5, 150},
    {server_killed, "server killed, data kept", kServers, promised},
    {server_emptied, "server killed, data lost", kServers, data_lost},
    {server_older, "server killed, data older", kServers, data_lost, 0, 0, 60},
    {server_frozen, "server frozen", kServers, promised, 20, 140},
    {server_asleep, "server asleep (DEBUG SLEEP)", kServers, promised, 20, 80},
    {server_paused, "server paused (CLIENT PAUSE)", kServers, promised, 20, 80},
    {clients_killed, "connections killed (CLIENT KILL)", kServers, promised},
    {scripts_flushed, "scripts flushed", kServers, promised},
    {flushed, "all keys flushed", kServers, data_lost},
    {forced, "lock broken by force", kServers, counted},
    {clock_forward, "server's clock forward", kServers, counted, 30, 100},
    {clock_back, "server's clock back", kServers, counted, 30, 100},
    {memory_full, "server's memory full", kServers, promised, 20, 120},
    {disk_full, "server's disk full", kServers, promised, 40, 120},
    {rights_withdrawn, "rights withdrawn", kServers, promised, 20, 120},
    {listening_withdrawn, "right to listen withdrawn", kServers, promised, 20, 120},
    {certificate_renewed, "certificate of another authority", kServers, promised},
    {failed_over, "failover", kServers, with_all_acks, 0, 0, 60},
    {primary_killed, "primary killed", kServers, with_all_acks, 0, 0, 200},
    {primary_cut_off, "primary cut off, killed", kServers, with_all_acks, 0, 0, 250},
    {primary_frozen, "primary frozen", kServers, with_all_acks, 0, 0, 200},
    {replica_killed, "replica killed", kServers, promised, 0, 0, 20},
    {replica_frozen, "replica frozen", kServers, promised, 20, 80},
    {sentinel_killed, "Sentinel killed", kServers, promised, 0, 0, 20},
    {taken_over, "primary taken over", kServers, with_all_acks, 0, 0, 60},
    {slots_moved, "slots moved", kServers, promised, 0, 0, 20},
    {node_added, "node added and removed", kServers, promised, 0, 0, 200},
});

}  // namespace

std::span<const FaultTraits> all_faults() { return kFaults; }

const FaultTraits& traits(Fault fault) {
  const auto found = std::ranges::find(kFaults, fault, &FaultTraits::fault);
  if (found == kFaults.end()) throw std::logic_error("a fault without traits");
  return *found;
}

Milliseconds expected(Fault fault, Milliseconds duration, Milliseconds lease) {
  return std::max(duration, lease * traits(fault).usual / 100);
}

std::string_view to_string(Fault fault) { return traits(fault).name; }

Promise promise(Fault fault, Milliseconds lease, bool all_acks) {
  const Exclusion exclusion = traits(fault).exclusion;
  if (exclusion == promised || (exclusion == with_all_acks && all_acks)) return {};
  // What was granted before is believed in until its deadline at the latest. A notice, a new connection or a renewal
  // tells sooner, as a rule; a fixed lease may have none of them.
  return {.exclusion = false, .counted_for = lease, .told_within = lease, .tokens = exclusion == counted};
}

}  // namespace holdfast::test::chaos
