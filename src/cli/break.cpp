// `holdfast break`: takes a lock away from its holder, but not from a later one.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/lock_on_servers.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

bool confirmed(const Console& console, const std::string& question) {
  console.question(question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// Any string may be such a lock, so the user must say which value to expect.
void require_owner(const BreakOptions& options, const LockOnServers& lock, const std::string& owners) {
  if (options.kind != LockKind::simple || options.owner) return;
  throw UsageError(
      fmt::format("{} is left alone: it holds {}, and any string looks like a lock of this kind; if that is its "
                  "owner, name it with --owner",
                  lock.in_words(), owners));
}

/// `A`; for several servers `A (on 2), B (on 1)`. Describes them, if known.
std::string owners_in_words(const std::vector<Answer>& answers) {
  struct Owner {
    const LockHolder* holder = nullptr;
    int count = 0;
  };
  std::map<std::string, Owner> owners;
  for (const Answer& answer : answers) {
    if (!answer.held()) continue;
    for (const LockHolder& holder : answer.info->holders) {
      Owner& owner = owners[holder.owner];
      owner.holder = &holder;
      ++owner.count;
    }
  }
  std::string text;
  for (const auto& [name, owner] : owners) {
    const auto& [holder, count] = owner;
    text += (text.empty() ? "" : ", ") + holder_in_words(*holder);
    if (answers.size() > 1) text += fmt::format(" (on {})", count);
  }
  return text;
}

/// Reduces the answer to what this owner holds.
void keep_only(const std::string& owner, LockInfo& info) {
  std::erase_if(info.holders, [&](const LockHolder& holder) { return holder.owner != owner; });
  info.owner = info.holders.empty() ? "" : owner;
}

/// The owner on most servers; empty if there is none.
std::string main_owner(const std::vector<Answer>& answers) {
  std::map<std::string, int> counts;
  std::string most;
  for (const Answer& answer : answers) {
    if (answer.held() && ++counts[answer.info->owner] > counts[most]) most = answer.info->owner;
  }
  return most;
}

bool any_held(const std::vector<Answer>& answers) { return std::ranges::any_of(answers, &Answer::held); }

enum class Result { free, broken, refused, other_owner, changed };

/// Throws if too few servers answered to say that the lock is broken.
Result take(LockOnServers& lock, Judgement& judgement) {
  const std::vector<LockOnServers::Part> parts = lock.take_from_owners(judgement.answers);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].error) continue;
    judgement.answers[i].info.reset();
    judgement.answers[i].error = parts[i].error;
  }
  if (judgement.silent() >= judgement.quorum()) throw Error(no_majority(judgement));
  return std::ranges::any_of(parts, &LockOnServers::Part::taken) ? Result::broken : Result::changed;
}

std::string result_in_words(Result result, const std::string& owners, LockOnServers& lock) {
  switch (result) {
    case Result::free:
      return "is free";
    case Result::broken:
      return "taken from " + owners;
    case Result::refused:
      return "left alone";
    case Result::other_owner:
      return "left alone: it is held by " + owners;
    case Result::changed:
      break;
  }
  const Judgement now = lock.ask();
  return fmt::format("left alone: {} does not have it any more; {}", owners,
                     any_held(now.answers) ? "it is held by " + owners_in_words(now.answers) : "it is free");
}

}  // namespace

int break_lock(const CommonOptions& common, const BreakOptions& options, const Console& console) {
  if (!options.yes && isatty(STDIN_FILENO) == 0) {
    throw UsageError("break asks before it acts, but standard input is not a terminal; give --yes to go on");
  }
  LockOnServers lock(make_configs(common, console), options.name, options.kind);
  Judgement judgement = lock.ask();
  if (judgement.silent() >= judgement.quorum()) throw Error(no_majority(judgement));

  const std::vector<Answer> seen = judgement.answers;
  Result result = any_held(seen) ? Result::refused : Result::free;
  if (options.owner) {
    for (Answer& answer : judgement.answers) {
      if (answer.held()) keep_only(*options.owner, *answer.info);
    }
    if (result == Result::refused && !any_held(judgement.answers)) result = Result::other_owner;
  }
  const std::string owners = owners_in_words(result == Result::other_owner ? seen : judgement.answers);
  const std::string owner = main_owner(result == Result::other_owner ? seen : judgement.answers);
  if (result == Result::refused) require_owner(options, lock, owners);
  if (result == Result::refused &&
      (options.yes ||
       confirmed(console, fmt::format("{} is held by {}. Its work may overlap with the next holder's. Break it?",
                                      lock.in_words(), owners)))) {
    result = take(lock, judgement);
  }
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", options.name);
    out["broken"] = result == Result::broken;
    out["changed"] = result == Result::changed;
    out["owner"] = nullptr;
    if (!owner.empty()) put_text(out, "owner", owner);
    console.result(json_line(out));
  }
  console.note(fmt::format("{}: {}", lock.in_words(), result_in_words(result, owners, lock)));
  return result == Result::broken ? kExitOk : kExitNo;
}

}  // namespace holdfast::cli
