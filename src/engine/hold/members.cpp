#include "engine/hold/members.hpp"

#include <algorithm>
#include <map>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

bool of_one_client(const std::vector<Member>& members) {
  return std::ranges::all_of(members, [&](const auto& each) { return each.runtime == members.front().runtime; });
}

/// The members in words, for causes: by their servers, or by their locks if they are of one cluster.
std::vector<std::string> nodes_of(const std::vector<Member>& members) {
  const bool by_lock = members.size() > 1 && of_one_client(members);
  std::vector<std::string> nodes;
  nodes.reserve(members.size());
  for (const Member& member : members) {
    nodes.push_back(by_lock ? base::quote(member.target->name()) : member.runtime->node());
  }
  return nodes;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Those who have a lock in common, if they are of one server: two clients of it.
Pairs with_a_lock_in_common(const std::vector<Member>& members) {
  Pairs pairs;
  if (of_one_client(members)) return pairs;
  std::map<std::pair<unsigned, std::string>, std::vector<std::size_t>> by_lock;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (wire::LockNames& each : members[i].target->all_names()) {
      std::vector<std::size_t>& its = by_lock[{members[i].runtime->config().database, std::move(each.key)}];
      for (const std::size_t other : its) pairs.emplace_back(other, i);
      its.push_back(i);
    }
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  return pairs;
}

Pairs pairs_of(const std::vector<Member>& members, Members::Servers servers) {
  if (servers == Members::Servers::any) return with_a_lock_in_common(members);
  Pairs pairs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(j, i);
  }
  return pairs;
}

}  // namespace

Members::Members(std::vector<Member> members, std::size_t needed, Servers servers)
    : all_(std::move(members)),
      nodes_(nodes_of(all_)),
      quorum_{all_.size(), needed},
      servers_(servers),
      different_(pairs_of(all_, servers)),
      must_differ_(all_.size()),
      in_the_way_(quorum_) {
  for (const auto& [one, other] : different_) must_differ_[one] = must_differ_[other] = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (must_differ(i)) all_[i].runtime->identify();
  }
}

std::string Members::where() const {
  if (of_one_client(all_)) return runtime().node();
  std::string text = std::to_string(nodes_.size()) + " servers (";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += (i == 0 ? "" : ", ") + nodes_[i];
  return text + ")";
}

std::optional<std::string> Members::same_server(const std::vector<std::uint64_t>& seen) const {
  const auto server = [&](std::size_t i) {
    return i < seen.size() && seen[i] != 0 ? seen[i] : all_[i].runtime->router().server();
  };
  for (const auto& [one, other] : different_) {
    if (server(one) <= redis::kNameless || server(one) != server(other)) continue;
    const std::string same = nodes_[one] + " and " + nodes_[other] + " are the same server";
    return servers_ == Servers::different ? same : same + ", and a lock is named at both";
  }
  return std::nullopt;
}

std::uint32_t Members::acks_era() const {
  std::uint32_t sum = 0;
  for (const Member& member : all_) sum += member.target->acks_era();
  return std::max(sum, 1U);
}

void Members::on_round() {
  const base::Guard guard(in_the_way_mutex_);
  in_the_way_.on_round();
}

void Members::on_vote(std::size_t member, Attempt& vote) {
  vote.server = all_[member].runtime->router().server();
  if (vote.kind == Attempt::Kind::granted && vote.server == 0 && must_differ(member)) {
    vote.kind = Attempt::Kind::unknown;
    vote.error = Errc::unknown_outcome;
    vote.cause = "which server it is, is not known yet";
  }
  const base::Guard guard(in_the_way_mutex_);
  in_the_way_.on_vote(member, vote);
}

bool Members::on_release(std::size_t member) {
  const base::Guard guard(in_the_way_mutex_);
  return in_the_way_.on_release(member);
}

}  // namespace holdfast::engine
