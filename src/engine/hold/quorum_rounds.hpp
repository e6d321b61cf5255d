// What a group asks its members, round by round. Each is begun on the loop of the client that serves the group, and
// tells its outcome there, once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "engine/decide/ballot.hpp"
#include "engine/hold/key_target.hpp"

namespace holdfast::engine {

/// The members of a group: who they are, and what is known of them together. A lock, or several that one command takes,
/// and the client that they are of.
struct Member {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<KeyTarget> target;
};

/// Thread-safe.
class Members {
 public:
  /// Whether each member's vote must be that of another server; `any`: only of members with a lock in common, which
  /// would be the same lock twice.
  enum class Servers { any, different };
  /// Has the servers asked who they are, where that matters.
  Members(std::vector<Member> members, std::size_t needed, Servers servers);

  const std::vector<Member>& all() const { return all_; }
  /// Each of them in words.
  const std::vector<std::string>& nodes() const { return nodes_; }
  /// All of them in words.
  std::string where() const;
  /// Of the first one's client.
  Runtime& runtime() const { return *all_.front().runtime; }
  Quorum quorum() const { return quorum_; }
  bool one_by_one() const { return quorum_.needed == quorum_.members; }
  Servers servers() const { return servers_; }
  /// Which server a member is, matters.
  bool must_differ(std::size_t member) const { return must_differ_[member]; }
  /// Two members that must be of different servers and are of one, which would have two votes, or one lock twice. In
  /// words. `seen`: who has answered for each member, where that is known; else it is who is there now.
  std::optional<std::string> same_server(const std::vector<std::uint64_t>& seen = {}) const;
  /// Another one with each era of a member.
  std::uint32_t acks_era() const;

  /// A round of an acquire begins.
  void on_round();
  /// A member's vote in it, on that one's loop, which hears of a release behind its vote, and which server it is before
  /// that. The vote learns which that was; where this matters and is not known, it is no grant.
  void on_vote(std::size_t member, Attempt& vote);
  /// A member has heard of a release. True: enough of them may now be free to win.
  bool on_release(std::size_t member);

 private:
  const std::vector<Member> all_;
  const std::vector<std::string> nodes_;
  const Quorum quorum_;
  const Servers servers_;
  const std::vector<std::pair<std::size_t, std::size_t>> different_;  // members that must be of different servers
  std::vector<bool> must_differ_;                                     // by member; constant after construction
  base::SmallMutex in_the_way_mutex_;
  InTheWay in_the_way_ HOLDFAST_GUARDED_BY(in_the_way_mutex_);
};

/// How long to wait for one member's vote: far below the lease, so that servers that are down cost little of it.
Duration vote_timeout(const Config& config, milliseconds lease);

void ask_members_for(std::shared_ptr<Members> group, Order order, AttemptDone done);
void release_members(std::shared_ptr<Members> group, const wire::Owner& owner, TimePoint deadline, TimePoint give_up,
                     ReleaseDone done);
void renew_members(std::shared_ptr<Members> group, std::shared_ptr<Tenancy> hold, milliseconds lease, RenewDone done);

}  // namespace holdfast::engine
