// SPDX-License-Identifier: Apache-2.0
// What is promised, looked at after each event of a run: exact, since the simulation sees everything. What is promised
// of some kinds only: readers are never beside a writer, tokens grow, and nobody overtakes in a fair lock's queue,
// of leased permits there are never more than there should be; what is counted is in the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/hold.hpp>

#include "lock/queue/tenancy.hpp"
#include "sim/ledger.hpp"
#include "sim/plan.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace holdfast::test::sim {

struct Violation {
  std::string promise;  ///< One word for each.
  std::string what;
  base::TimePoint at{};
};

class Judge {
 public:
  /// What the server says: the owners of this lock.
  using Owners = std::function<std::vector<std::string>(int lock)>;
  using IsFree = std::function<bool(int lock)>;
  /// Those in the queue of a fair lock, in its order, and until when each keeps its place.
  using Queued = std::vector<std::pair<std::string, base::TimePoint>>;
  using Waiting = std::function<Queued(int lock)>;
  Judge(World& world, const Plan& plan, Owners owners, IsFree is_free, Waiting waiting, Ledger& ledger);

  // ---- holds ----
  /// From the grant to the call of the release.
  struct Belief {
    int lock = 0, client = 0;
    Process* process = nullptr;
    std::weak_ptr<engine::Claim> holding{};
    std::string owner{};  // as the server has it; of any of several behind the name of that
    std::string name{};   // of any of several
    std::int64_t permits = 1;
    bool reads = false;
    bool told = false, ended = false;
    bool beside = false;     // another hold, and counted as that
    bool forgotten = false;  // by the server, under a fault that may make it do so
    base::TimePoint forgotten_at{};
    std::optional<base::TimePoint> over_since{};  // it does not stand any more
  };
  using BeliefPtr = std::shared_ptr<Belief>;
  BeliefPtr granted(int lock, int client, Process& process, const std::shared_ptr<engine::Claim>& holding,
                    const Hold& hold);
  void told(Belief& belief);
  /// Whoever works without a lock.
  BeliefPtr entered(int lock, int client, Process& process);

  // ---- calls ----
  struct Call {
    std::string what;
    Process* process = nullptr;
    int waits_for = -1;  // a lock
    base::TimePoint began{};
    base::Duration stood_still{};
    std::optional<base::Duration> bound{};
  };
  using CallId = std::list<Call>::iterator;
  CallId begin(std::string what, Process& process, std::optional<base::Duration> bound, int waits_for = -1);
  /// From now on it ends within so much time.
  void limit(CallId call, base::Duration bound);
  void end(CallId call);
  /// Nothing that it has begun will end.
  void killed(const Process& process);

  // ---- faults ----
  void trouble_begins() { ++troubles_; }
  void trouble_ends();
  void forgetting_begins() { ++forgetting_; }
  void forgetting_ends() { --forgetting_; }
  void forgets() { last_forgot_ = world_.now(); }

  /// Something else that must not be.
  void violated(std::string promise, std::string what);
  void look();
  const std::optional<Violation>& violation() const { return violation_; }

  struct Tally {
    std::uint64_t told = 0, forgotten = 0;
    std::uint64_t beside = 0;       // holds that stood beside another one
    base::Duration longest_free{};  // that somebody waited for, in calm times
    base::Duration told_after{};    // at most, after the server had forgotten it
  };
  const Tally& tally() const { return tally_; }

 private:
  bool stands(Belief& belief);
  void look_at(Belief& belief);
  void look_at_overlaps();
  void look_at_permits();
  void look_at_calls();
  void look_at_waits();
  void look_at_queues();
  void look_at_ledger();
  bool is_on_server(const Belief& belief) const;
  base::Duration told_within(const Belief& belief) const;
  bool calm() const { return troubles_ == 0 && world_.now() >= calm_since_ + kSettling; }

  /// After trouble clients find out, connect, and try again.
  static constexpr base::Duration kSettling = std::chrono::seconds(10);

  World& world_;
  const Plan& plan_;
  const Owners owners_;
  const IsFree is_free_;
  const Waiting waiting_;
  Ledger& ledger_;
  std::vector<BeliefPtr> beliefs_;  // that have not ended
  std::vector<Belief*> standing_;
  std::list<Call> calls_;
  int troubles_ = 0;
  int forgetting_ = 0;
  base::TimePoint calm_since_{};
  std::optional<base::TimePoint> last_forgot_;
  std::vector<std::optional<base::TimePoint>> free_since_;  // by lock, while somebody waits
  std::vector<std::int64_t> tokens_;                        // by lock, the latest
  struct Queue {
    std::vector<std::string> owners;
    Queued waiting;
  };
  std::vector<Queue> queues_;  // by lock, as it was
  std::optional<Violation> violation_;
  Tally tally_;
};

}  // namespace holdfast::test::sim
