// SPDX-License-Identifier: Apache-2.0
// The faults of the chaos runs: what each is called, whom it strikes, how long it lasts, and what is promised under it.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::test::chaos {

using Milliseconds = std::chrono::milliseconds;

enum class Fault {
  // A process.
  process_killed,
  process_stopped,
  process_stopped_past_lease,
  // The links of one process.
  links_cut,
  links_half_open,
  links_slow,
  requests_swallowed,
  replies_swallowed,
  reply_lost,
  request_late,
  // A server.
  server_killed,
  server_emptied,
  server_older,
  server_frozen,
  server_asleep,
  server_paused,
  clients_killed,
  scripts_flushed,
  flushed,
  forced,
  clock_forward,
  clock_back,
  memory_full,
  disk_full,
  rights_withdrawn,
  listening_withdrawn,
  certificate_renewed,
  // What has replicas.
  failed_over,
  primary_killed,
  primary_cut_off,
  primary_frozen,
  replica_killed,
  replica_frozen,
  sentinel_killed,
  taken_over,
  slots_moved,
  node_added,
};

/// Faults of one track strike one after another; those of two tracks at the same time.
enum class Track { clients, servers };

/// docs/guarantees.md, section 4, and docs/acks-and-clusters.md: "two inside?".
enum class Exclusion {
  promised,
  with_all_acks,  ///< Promised where every grant has the acks of all replicas.
  counted,
  data_lost,  ///< Counted: the server has forgotten. The others leave its data as they are.
};

struct FaultTraits {
  Fault fault;
  std::string_view name;
  Track track;
  Exclusion exclusion;
  /// How long it lasts: in hundredths of a lease. Both zero: it is over at once, or when the servers are done with it.
  int least = 0, most = 0;
  int usual = 0;  ///< So long the servers take, as a rule; in the same unit.
};

std::span<const FaultTraits> all_faults();
const FaultTraits& traits(Fault fault);
/// When a fault of this duration will be over, as a rule.
Milliseconds expected(Fault fault, Milliseconds duration, Milliseconds lease);
std::string_view to_string(Fault fault);

/// What is promised under a fault.
struct Promise {
  bool exclusion = true;
  /// Where it is not: two may be inside if the first entered before the fault was over, and the second until so long
  /// after that.
  Milliseconds counted_for{0};
  /// So long after it was over, the holder of a lock that it took away has been told at the latest.
  Milliseconds told_within{0};
  /// Each grant's token is larger than that of every grant before it.
  bool tokens = true;
};

/// `all_acks`: every grant waits for all replicas.
Promise promise(Fault fault, Milliseconds lease, bool all_acks);

}  // namespace holdfast::test::chaos
