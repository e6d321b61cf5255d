// SPDX-License-Identifier: Apache-2.0
// What the servers behind a client are, and what endangers locks there. A library of its own: link holdfast::probe (the
// component `probe` of the CMake package, holdfast-probe for pkg-config).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {

class Client;

/// From the best to the worst.
enum class Severity : std::uint8_t {
  ok,       ///< Checked, and as it should be.
  unknown,  ///< Could not be checked: the text says why.
  note,     ///< Good to know; no lock is in danger because of it.
  warning,  ///< A lock may be lost, or a call fail, if something else goes wrong as well.
  danger,   ///< Locks do not work, or do not exclude, or may be lost at any time.
};

/// `ok`, `unknown`, `note`, `warning`, `danger`.
HOLDFAST_EXPORT const char* to_string(Severity severity) noexcept;

/// One thing that was checked. Texts have no passwords and no control characters.
struct Finding {
  Severity severity = Severity::ok;
  std::string id;      ///< What was checked, as one stable word: `eviction`, `persistence`, ...
  std::string node;    ///< Where; empty: it concerns several.
  std::string text;    ///< What was found.
  std::string advice;  ///< What to do about it; empty: nothing.
};

/// One server, replica or Sentinel.
struct ProbedNode {
  enum class Part : std::uint8_t {
    server,    ///< What the client talks to; of a cluster each primary.
    replica,   ///< A server that this one names as its replica, or, if it is a replica itself, as its primary; or
               ///< a replica of a cluster.
    sentinel,  ///< A Sentinel of the client's settings, or one that those know.
  };
  /// Which locks survive a restart.
  enum class Keeps : std::uint8_t {
    unknown,
    nothing,
    snapshot,         ///< Those in the last RDB file.
    all_but_seconds,  ///< An append-only file that is written to disk every second, or when the system likes.
    all,              ///< An append-only file, on disk before each reply.
  };

  std::string address;  ///< `host:port`, or as text.
  Part part = Part::server;
  bool answered = false;
  std::string problem;         ///< Why it did not answer.
  std::string software;        ///< `Redis`, `Valkey`, `KeyDB`, ...; empty: it does not say.
  std::string version;         ///< Of the software.
  std::string role;            ///< `master`, `slave`, `sentinel`; empty: it does not say.
  std::string run_id;          ///< Unique to this run of the server; empty: it does not say.
  std::string replication_id;  ///< The same on a primary and its replicas; empty: it does not say.
  Keeps keeps = Keeps::unknown;
  std::optional<std::chrono::microseconds> round_trip_p50{};  ///< Of up to 100 PINGs.
  std::optional<std::chrono::microseconds> round_trip_p99{};
  /// How far its clock is ahead of this machine's; negative: behind. Accurate to `clock_error`, half of a round trip.
  std::optional<std::chrono::microseconds> clock_ahead{};
  std::chrono::microseconds clock_error{};
};

HOLDFAST_EXPORT const char* to_string(ProbedNode::Part part) noexcept;    ///< `server`, `replica`, `sentinel`.
HOLDFAST_EXPORT const char* to_string(ProbedNode::Keeps keeps) noexcept;  ///< The names above.

/// What probe() found.
struct HOLDFAST_EXPORT ProbeReport {
  std::vector<ProbedNode> nodes;  ///< The client's server first; of a cluster the primaries.
  std::vector<Finding> findings;  ///< Worst first; of the same severity, in the order in which they were checked.

  /// Of all findings.
  Severity worst() const noexcept;
  /// The client's server answered; of a cluster one of its primaries.
  bool reached() const noexcept { return !nodes.empty() && nodes.front().answered; }
};

/// What the servers behind this client are, and what endangers locks there. Queries them, and their replicas, Sentinels
/// or cluster, on connections of its own with this client's login. Changes nothing there: no key is written, no message
/// sent. Blocks for about 0.1 s, and 10 s at most. Wire cost for the server: some 200 commands, 100 of them PING, and a
/// SCAN of up to 20,000 keys with PTTL for each; less for the other nodes. Problems of servers are findings and never
/// thrown. Throws Error(closed), Error(forked), and Error(would_deadlock) on a client that runs on the caller's
/// io_context. The user's permissions are checked for the key and channel of this lock, if a name is given, otherwise
/// for an unused name.
HOLDFAST_EXPORT ProbeReport probe(const Client& client, std::string_view lock = {});

/// Problems among servers that should be independent (RedLock) which no single report shows: the same server twice, a
/// replica among them, clocks that differ, a restart that loses locks. Worst first; empty for less than two reports.
/// Sends nothing.
HOLDFAST_EXPORT std::vector<Finding> compare(std::span<const ProbeReport> independent);

}  // namespace holdfast
