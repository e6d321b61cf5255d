// SPDX-License-Identifier: Apache-2.0
// What happens in one run: a value that follows from a seed, can be printed, and can be cut.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/options.hpp>

namespace holdfast::test::sim {

using std::chrono::milliseconds;

struct ClientPlan {
  milliseconds lease{3000}, safety_poll{1000}, patience{5000}, command_timeout{1000}, release_timeout{1000};
  milliseconds handoff{2};
  bool loss_notice = false;
  bool named = false;   // its connections
  bool leaves = false;  // its holds, when it is closed
  Acks acks{};
  bool pipelined = false;  // releases of what is dropped
  bool resp2 = false;      // messages have a connection of their own
  int drift_ppm = 0;       // of its clock, against the server's

  friend bool operator==(const ClientPlan&, const ClientPlan&) = default;
};

/// What a caller of a client does: those of one caller come one after another.
struct Action {
  enum class Call { acquire, try_acquire };
  enum class Cancel { never, by_slot, by_token };
  enum class End { release, drop };

  int client = 0, caller = 0, lock = 0;
  milliseconds pause{};  // behind the one before
  Call call = Call::acquire;
  std::optional<milliseconds> wait{};
  bool fixed = false;
  milliseconds lease{};  // 0: the client's
  std::optional<milliseconds> max_hold{};
  Cancel cancel = Cancel::never;
  milliseconds cancel_after{};
  milliseconds hold{};
  milliseconds extended_after{}, extended_to{};  // 0: never
  End end = End::release;
  bool heeds_loss = true;  // it ends when it is told
  bool reads = false;      // of a read-write lock; of several, one of them alone; of a latch, it waits
  int number = 1;          // of permits, or of a latch's steps

  friend bool operator==(const Action&, const Action&) = default;
};

struct Fault {
  enum class Kind {
    slow,               // each portion of a client's bytes takes up to `amount` longer
    cut,                // its connections
    held_back,          // nothing arrives, and all of it later
    swallow_to_server,  // nothing arrives any more on the connections that there are, in this direction
    swallow_to_client,
    lose_reply,  // the next one, and its connection
    refuse,      // new connections
    pause,       // its process stands still
    reopen,      // it is closed, and made anew
    kill,        // its process, and another one begins afterwards
    freeze,      // the server stands still
    restart,     // it is gone for a while
    forget_scripts,
    slow_server,    // each command takes `amount`
    full_memory,    // it refuses what would need more
    withdraw,       // permission for some commands
    answer_errors,  // to all commands
    clock_back,     // by `amount`
    // Those of a primary behind Sentinels or in a cluster, which end with another one.
    fail_over,        // by order
    kill_primary,     // which comes back as a replica
    freeze_primary,   // the same
    isolate_primary,  // from all nodes, not from clients; in a cluster
    cut_replica,      // nothing gets to it
    // Those of a cluster.
    move_slot,     // key by key
    abandon_slot,  // nobody serves it
    hide_node,     // from a client, not from others
    // Those under which a lock may be forgotten.
    lose_data,    // it is gone for a while, and so is its data
    clock_ahead,  // by `amount`
    older_data,   // it comes back as it was `amount` before
    flush,        // FLUSHALL
    force,        // the client breaks the lock
  };
  Kind kind = Kind::cut;
  milliseconds at{}, lasts{};
  int client = 0;
  milliseconds amount{};
  int which =
      0;  // of independent servers; of errors or permissions; in a cluster, the lock whose slot or primary it is

  bool of_server() const;
  bool fails_over() const;
  friend bool operator==(const Fault&, const Fault&) = default;
};
const char* to_string(Fault::Kind kind);
constexpr int kFaultKinds = static_cast<int>(Fault::Kind::force) + 1;

/// What is wrong on purpose, for tests of the judge.
enum class Sabotage {
  none,
  no_lock,        // callers work without asking
  slow_clocks,    // of all clients but the first, beyond what the margin allows for
  silent_losses,  // the server loses its data now and then, and the judge is not told
  dead_server,    // it freezes for ever, and the judge is not told
  // The server does not do what its scripts say.
  reader_beside_writer,
  queue_jumped,          // a fair lock is whoever's who finds it free
  token_stands_still,    // of a fenced lock
  any_beside_another,    // of several one that somebody has is given a second time
  any_of_the_first,      // of several only the first is ever given
  permit_beyond,         // leased permits are given that there are not
  permit_swallowed,      // a leased permit that is given back is not there again
  acquire_counts_again,  // of a semaphore; what comes a second time is not known again
  release_counts_again,
  step_counts_again,  // of a latch
};

/// Where the locks are.
enum class Site {
  server,
  sentinels,    // a primary, two replicas, three Sentinels
  cluster,      // three primaries with a replica each
  independent,  // servers of which a majority must grant a lock, or all
};

/// multi: of two names; any: of one of three, in a cluster of one of four in three slots.
enum class LockKind { lock, simple, multi, fenced, read_write, fair, spin, any, permits, semaphore, latch };

struct Plan {
  std::string scenario;
  std::uint64_t seed = 0;
  int locks = 1;
  Site site = Site::server;
  int servers = 1;         // that are independent
  bool needs_all = false;  // of them
  LockKind kind = LockKind::lock;
  int permits = 0;  // in all, of each semaphore
  Sabotage sabotage = Sabotage::none;
  std::vector<ClientPlan> clients;
  std::vector<Action> actions;
  std::vector<Fault> faults;

  bool has(Fault::Kind fault) const;
  /// The keys of a lock.
  std::vector<std::string> keys(int lock) const;
  /// So many permits a semaphore has in all; so many steps open a latch.
  std::int64_t total(int lock) const;
  /// The most that anybody wants at once.
  std::int64_t most_wanted() const;
  /// Under this fault a lock may be forgotten.
  bool forgets(const Fault& fault) const;
  /// Under one of them.
  bool forgets() const;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// One line each for the clients, the actions and the faults.
std::string describe(const Plan& plan);

struct Scenario {
  std::string_view name, about;
};
const std::vector<Scenario>& scenarios();
/// Throws std::out_of_range if there is no such scenario.
Plan make_plan(std::string_view scenario, std::uint64_t seed);

}  // namespace holdfast::test::sim
