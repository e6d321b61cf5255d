// SPDX-License-Identifier: Apache-2.0
// `holdfast break`: takes a lock away from its holder, but not from a later one.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

bool confirmed(const Console& console, const std::string& question) {
  console.question(question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
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
Result take(LockAtServers& lock, Judgement& judgement) {
  const std::vector<LockAtServers::Part> parts = lock.take_from_owners(judgement.answers);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].error) continue;
    judgement.answers[i].info.reset();
    judgement.answers[i].error = parts[i].error;
  }
  if (judgement.silent() >= judgement.quorum()) throw Error(no_majority(judgement));
  return std::ranges::any_of(parts, &LockAtServers::Part::taken) ? Result::broken : Result::changed;
}

std::string result_in_words(Result result, const std::string& owners, LockAtServers& lock) {
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

class BreakVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kind(kind_, R"(lock (default), fenced, fair, simple, spin, read-write or permit, as in run)");
    line.flag("-y, --yes", yes_, R"(do not ask; required if standard input is not a terminal)");
    line.text("--owner OWNER", owner_,
              R"(only if this is the holder, as shown by inspect; of several readers only this one)");
  }
  void accept(const CommandLine& line) override { name_ = line.only("the name of the lock"); }
  int run(const Console& console) override;

 private:
  std::string name_;
  LockKind kind_ = LockKind::lock;
  bool yes_ = false;
  std::optional<std::string> owner_;  // only from this one
};

int BreakVerb::run(const Console& console) {
  if (!yes_ && isatty(STDIN_FILENO) == 0) {
    throw UsageError("break asks before it acts, but standard input is not a terminal; give --yes to go on");
  }
  LockAtServers lock(make_configs(console), name_, kind_);
  Judgement judgement = lock.ask();
  if (judgement.silent() >= judgement.quorum()) throw Error(no_majority(judgement));

  const std::vector<Answer> seen = judgement.answers;
  Result result = any_held(seen) ? Result::refused : Result::free;
  if (owner_) {
    for (Answer& answer : judgement.answers) {
      if (answer.held()) keep_only(*owner_, *answer.info);
    }
    if (result == Result::refused && !any_held(judgement.answers)) result = Result::other_owner;
  }
  const std::string owners = owners_in_words(result == Result::other_owner ? seen : judgement.answers);
  const std::string owner = main_owner(result == Result::other_owner ? seen : judgement.answers);
  // Any string may be such a lock, so the user must say which value to expect.
  if (result == Result::refused && kind_ == LockKind::simple && !owner_) {
    throw UsageError(
        fmt::format("{} is left alone: it holds {}, and any string looks like a lock of this kind; if that is its "
                    "owner, name it with --owner",
                    lock.in_words(), owners));
  }
  if (result == Result::refused &&
      (yes_ ||
       confirmed(console, fmt::format("{} is held by {}. Its work may overlap with the next holder's. Break it?",
                                      lock.in_words(), owners)))) {
    result = take(lock, judgement);
  }
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", name_);
    out["broken"] = result == Result::broken;
    out["changed"] = result == Result::changed;
    out["owner"] = nullptr;
    if (!owner.empty()) put_text(out, "owner", owner);
    console.result(json_line(out));
  }
  console.note(fmt::format("{}: {}", lock.in_words(), result_in_words(result, owners, lock)));
  return result == Result::broken ? kExitOk : kExitNo;
}

}  // namespace

extern const VerbEntry break_verb{.name = "break",
                                  .summary = R"(take a lock away from its holder)",
                                  .head = R"(holdfast break [OPTIONS] NAME

Takes a lock away from its holder and wakes the next waiter. The holder learns of it at once or with its next
renewal, so its work may overlap with the next holder's: use this only as a last resort. Asks for confirmation
first. Only the holder that was seen loses the lock, or all readers that were; anyone who has taken it since keeps it.
With several servers, it is taken on each. What is no lock is left alone; any string looks like a simple lock, so for
one of these OWNER must be given.
)",
                                  .end = R"(
Exit codes
  0   taken away                           64  wrong usage
  1   free, or left alone: the answer was  69  no server (majority), or it refuses
      no, or the holder is a different one 70  internal error

Examples
  holdfast break nightly-backup
  holdfast break --yes --owner 99999999-2222-4333-8444-555555555555:7 nightly-backup
)",
                                  .make = make_verb<BreakVerb>};

}  // namespace holdfast::cli
