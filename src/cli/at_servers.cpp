// SPDX-License-Identifier: Apache-2.0
#include "cli/at_servers.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/console.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// When the holder loses its majority without renewals: when fewer than `quorum` leases are left.
std::optional<milliseconds> majority_ends(const std::vector<const LockInfo*>& votes, std::size_t quorum) {
  std::vector<milliseconds> leases;
  for (const LockInfo* vote : votes) leases.push_back(vote->remaining.value_or(milliseconds::max()));
  std::ranges::sort(leases, std::greater<>());
  const milliseconds end = leases[quorum - 1];
  return end == milliseconds::max() ? std::nullopt : std::optional(end);
}

/// How long closing may take. A release that can arrive has been sent long before that.
constexpr std::chrono::milliseconds kCloseLimit{300};

/// Clients that have nothing to release, so closing them need not wait.
std::vector<Config> for_asking(std::vector<Config> configs, LockKind kind) {
  if ((is_read_write(kind) || kind == LockKind::permit) && configs.size() > 1) {
    throw UsageError(fmt::format("--kind {} is for one server", row_of(kind).name));
  }
  for (Config& config : configs) config.timing.release_timeout = std::chrono::milliseconds(50);
  return configs;
}

}  // namespace

std::size_t Judgement::silent() const {
  return static_cast<std::size_t>(std::ranges::count_if(answers, [](const Answer& answer) { return !answer.info; }));
}

Judgement judge(const std::string& name, std::vector<Answer> answers) {
  Judgement judgement;
  judgement.lock.name = name;
  judgement.answers = std::move(answers);
  std::map<std::string, std::vector<const LockInfo*>> by_owner;
  std::size_t most = 0;
  for (const Answer& answer : judgement.answers) {
    if (!answer.held()) continue;
    auto& votes = by_owner[answer.info->owner];
    votes.push_back(&*answer.info);
    most = std::max(most, votes.size());
    if (votes.size() < judgement.quorum()) continue;
    judgement.verdict = Judgement::Verdict::held;
    judgement.votes = votes.size();
    judgement.lock = *votes.front();
    judgement.lock.remaining = majority_ends(votes, judgement.quorum());
    // With several servers only kinds with one holder are queried.
    if (judgement.answers.size() > 1) judgement.lock.holders.front().remaining = judgement.lock.remaining;
  }
  // A free lock may have waiters, until the next one takes it.
  if (judgement.answers.size() == 1 && judgement.verdict != Judgement::Verdict::held &&
      judgement.answers.front().info) {
    judgement.lock.queue = judgement.answers.front().info->queue;
    judgement.lock.queued = judgement.answers.front().info->queued;
  }
  if (judgement.verdict != Judgement::Verdict::held && most + judgement.silent() < judgement.quorum()) {
    judgement.verdict = Judgement::Verdict::free;
  }
  return judgement;
}

std::string in_words(const Error& error) {
  return error.code().message() + (error.cause().empty() ? "" : ": " + error.cause());
}

Error no_majority(const Judgement& judgement) {
  if (judgement.answers.size() == 1) return *judgement.answers.front().error;
  std::string words;
  for (const Answer& answer : judgement.answers) {
    const std::string said = answer.error    ? in_words(*answer.error)
                             : answer.held() ? fmt::format("held by {}", printable(answer.info->owner))
                                             : "free";
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", answer.node, said);
  }
  return {Errc::no_quorum, judgement.lock.name, fmt::format("{} servers", judgement.answers.size()), words};
}

AtServers::AtServers(std::vector<Config> configs) {
  for (Config& config : configs) clients_.emplace_back(std::move(config));
}

std::string AtServers::in_words() const {
  return several() ? fmt::format("{} servers", clients_.size()) : first().node();
}

std::vector<std::string> AtServers::nodes() const {
  std::vector<std::string> nodes;
  for (const Client& client : clients_) nodes.push_back(client.node());
  return nodes;
}

void AtServers::close() {
  for (const Client& client : clients_)
    closing_.push_back(std::async(std::launch::async, [&client] { client.close(); }));
  const auto limit = std::chrono::steady_clock::now() + kCloseLimit;
  for (const std::future<void>& each : closing_) each.wait_until(limit);
}

LockAtServers::LockAtServers(std::vector<Config> configs, std::string name, LockKind kind)
    : name_(std::move(name)), servers_(for_asking(std::move(configs), kind)) {
  for (const Client& client : servers_.clients()) locks_.push_back({client.node(), key_lock(client, name_, kind)});
}

Judgement LockAtServers::ask(InfoDetail detail, std::optional<base::TimePoint> until) {
  const auto ask = [detail](const Place& place) -> Answer {
    try {
      return {place.node, place.lock.info(detail), {}};
    } catch (const Error& error) {
      return {place.node, {}, error};
    }
  };
  if (!until) return judge(name_, ask_all(locks_, ask));
  std::vector<std::optional<Answer>> some = servers_.ask_by(*until, locks_, ask);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::string& node = locks_[i].node;
    answers.push_back(some[i] ? *some[i]
                              : Answer{node, {}, Error(Errc::unreachable, name_, node, "no answer in time")});
  }
  return judge(name_, std::move(answers));
}

std::vector<LockAtServers::Part> LockAtServers::take_from_owners(const std::vector<Answer>& seen) {
  std::vector<std::pair<KeyLock, const Answer*>> all;
  for (std::size_t i = 0; i < seen.size(); ++i) all.emplace_back(locks_[i].lock, &seen[i]);
  return ask_all(all, [](const std::pair<KeyLock, const Answer*>& each) {
    const auto& [lock, answer] = each;
    Part part;
    if (!answer->held()) return part;
    try {
      std::set<std::string> owners;  // a writer that also reads is listed twice
      for (const LockHolder& holder : answer->info->holders) owners.insert(holder.owner);
      for (const std::string& owner : owners) part.taken |= lock.force_release(owner);
    } catch (const Error& error) {
      part.error = error;
    }
    return part;
  });
}

std::string LockAtServers::in_words() const { return fmt::format("lock {} on {}", base::quote(name_), node()); }

std::vector<std::string> owners_around() {
  const char* around = std::getenv(kOwners);
  std::istringstream owners(around == nullptr ? "" : around);
  return {std::istream_iterator<std::string>(owners), {}};
}

void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders) {
  const std::vector<std::string> owners = owners_around();
  const auto ours = [&](const LockInfo& info) {
    return std::ranges::any_of(info.holders, [&](const LockHolder& holder) {
      return std::ranges::find(owners, holder.owner) != owners.end();
    });
  };
  const auto own = std::ranges::find_if(holders, ours);
  if (own == holders.end()) return;
  throw UsageError(
      fmt::format("lock {} is held by a run that this command is part of, so it would wait for itself; "
                  "if that run does not wait for this command, unset {}",
                  base::quote(own->name), kOwners));
}

}  // namespace holdfast::cli
