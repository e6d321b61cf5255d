#include "cli/survey.hpp"

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

std::size_t Survey::silent() const {
  return static_cast<std::size_t>(std::ranges::count_if(answers, [](const Answer& answer) { return !answer.info; }));
}

Survey judge(const std::string& name, std::vector<Answer> answers) {
  Survey survey;
  survey.lock.name = name;
  survey.answers = std::move(answers);
  std::map<std::string, std::vector<const LockInfo*>> by_owner;
  std::size_t most = 0;
  for (const Answer& answer : survey.answers) {
    if (!answer.held()) continue;
    auto& votes = by_owner[answer.info->owner];
    votes.push_back(&*answer.info);
    most = std::max(most, votes.size());
    if (votes.size() < survey.quorum()) continue;
    survey.verdict = Survey::Verdict::held;
    survey.votes = votes.size();
    survey.lock = *votes.front();
    survey.lock.remaining = majority_ends(votes, survey.quorum());
    // With several servers only kinds with one holder are queried.
    if (survey.answers.size() > 1) survey.lock.holders.front().remaining = survey.lock.remaining;
  }
  // A free lock may have waiters, until the next one takes it.
  if (survey.answers.size() == 1 && survey.verdict != Survey::Verdict::held && survey.answers.front().info) {
    survey.lock.queue = survey.answers.front().info->queue;
    survey.lock.queued = survey.answers.front().info->queued;
  }
  if (survey.verdict != Survey::Verdict::held && most + survey.silent() < survey.quorum()) {
    survey.verdict = Survey::Verdict::free;
  }
  return survey;
}

std::string in_words(const Error& error) {
  return error.code().message() + (error.cause().empty() ? "" : ": " + error.cause());
}

Error no_majority(const Survey& survey) {
  if (survey.answers.size() == 1) return *survey.answers.front().error;
  std::string words;
  for (const Answer& answer : survey.answers) {
    const std::string said = answer.error    ? in_words(*answer.error)
                             : answer.held() ? fmt::format("held by {}", printable(answer.info->owner))
                                             : "free";
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", answer.node, said);
  }
  return {Errc::no_quorum, survey.lock.name, fmt::format("{} servers", survey.answers.size()), words};
}

}  // namespace holdfast::cli
