#include "cli/judgement.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/output.hpp"

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

}  // namespace holdfast::cli
