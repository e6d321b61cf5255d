// SPDX-License-Identifier: Apache-2.0
// `holdfast wait`: waits until a lock is free, without taking it.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// The pause between two checks grows from the first value to the second, so that a long wait costs the server very
// little.
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{1000};

/// How long the final check at the end of a wait may take.
constexpr milliseconds kLastLook{50};

/// 50 to 100 % of it, so that many waiters do not ask at the same moment.
milliseconds jittered(milliseconds pause) {
  static std::minstd_rand random(std::random_device{}());
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

/// Checks the lock, and tolerates servers that are away for a while.
class Looker {
 public:
  /// `limit`: how long to retry a server that has never answered.
  Looker(LockAtServers& lock, const Console& console, milliseconds patience, milliseconds limit)
      : lock_(lock), console_(console), patience_(patience), tolerates_until_(base::Clock::now() + limit) {}

  /// Empty: no answer this time, or too few. Throws Error. `until`: set for the final check.
  std::optional<Judgement> look(std::optional<base::TimePoint> until) {
    const bool asks_name = !named_;
    Judgement judgement = lock_.ask(asks_name ? InfoDetail::holder_if_cheap : InfoDetail::owner, until);
    if (judgement.verdict != Judgement::Verdict::undecided) {
      answered_ = true;
      tolerates_until_ = base::Clock::now() + patience_;
      learn_name(judgement.lock, asks_name);
      return judgement;
    }
    const Error error = no_majority(judgement);
    const auto left = std::chrono::ceil<milliseconds>(tolerates_until_ - base::Clock::now());
    if (!error.may_pass() || left <= milliseconds::zero()) throw Error(error);
    if (!answered_ && !std::exchange(told_, true)) {
      console_.note(fmt::format("{}; trying again for {}", error.what(), in_words(left)));
    }
    last_.emplace(error);
    return std::nullopt;
  }

  /// Called when the time is over.
  void refuse_to_guess() const {
    if (!answered_ && last_) throw Error(*last_);
  }
  /// The holder in the latest answer.
  const std::string& holder() const { return words_; }

 private:
  void learn_name(const LockInfo& lock, bool asked) {
    if (asked || lock.owner != owner_) words_ = lock.owner.empty() ? "" : holder_in_words(lock);
    named_ = asked || lock.owner == owner_;
    owner_ = lock.owner;
  }

  LockAtServers& lock_;
  const Console& console_;
  const milliseconds patience_;
  base::TimePoint tolerates_until_;
  std::optional<Error> last_;
  bool answered_ = false;
  bool told_ = false;
  bool named_ = false;  // the owner's name was queried
  std::string owner_, words_;
};

class WaitVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kind(kind_, R"(lock (default), fenced, fair, simple, spin, read-write or permit, as in run)");
    limit_.declare(line, R"(only check, do not wait)",
                   R"(give up after this long: seconds, or 500ms, 10s, 5m, 2h, 1d; default: wait without limit)");
  }
  void accept(const CommandLine& line) override {
    name_ = line.only("the name of the lock");
    limit_.settle();
    line.hint_at_units(name_);
  }
  int run(const Console& console) override;

 private:
  std::string name_;
  LockKind kind_ = LockKind::lock;
  WaitLimit limit_;
};

int WaitVerb::run(const Console& console) {
  std::vector<Config> configs = make_configs(console);
  const milliseconds patience = configs.front().timing.patience;
  LockAtServers lock(std::move(configs), name_, kind_);
  Looker looker(lock, console, patience, limit_.wait.value_or(patience));
  const std::string lock_in_words = lock.in_words();
  const base::TimePoint start = base::Clock::now();
  std::string holder;
  milliseconds pause = kFirstPause;

  const auto conclude = [&](bool free) {
    const auto waited = std::chrono::duration_cast<milliseconds>(base::Clock::now() - start);
    if (console.json()) {
      boost::json::object out;
      put_text(out, "name", name_);
      out["free"] = free;
      put_ms(out, "waited_ms", waited);
      out["waited_for"] = nullptr;
      if (!holder.empty()) put_text(out, "waited_for", holder);
      console.result(json_line(out));
    }
    if (!free) console.note(fmt::format("{}: still held by {}", lock_in_words, looker.holder()));
    if (free) console.detail(fmt::format("{}: free after {}", lock_in_words, in_words(waited)));
    return free ? kExitOk : limit_.conflict_exit_code;
  };

  // Checking once means checking until there is an answer.
  const bool limited = limit_.wait && *limit_.wait > milliseconds::zero();
  const auto look_ends = [&]() -> std::optional<base::TimePoint> {
    if (!limited) return std::nullopt;
    return std::max(start + *limit_.wait, base::Clock::now() + kLastLook);
  };

  while (true) {
    const std::optional<Judgement> judgement = looker.look(look_ends());
    if (judgement && judgement->verdict == Judgement::Verdict::free) return conclude(true);
    if (judgement && judgement->lock.owner != holder) {
      holder = judgement->lock.owner;
      if (limit_.wait != milliseconds::zero()) refuse_to_wait_for_ourselves({judgement->lock});
      console.detail(fmt::format("{}: held by {}, waiting", lock_in_words, looker.holder()));
      if (!judgement->lock.remaining && limit_.wait != milliseconds::zero()) {
        console.note(fmt::format("{} has no expiry, so only its holder ends it, or holdfast break", lock_in_words));
      }
    }
    milliseconds next = jittered(pause);
    if (judgement && judgement->lock.remaining) next = std::min(next, *judgement->lock.remaining + milliseconds(1));
    if (limit_.wait) {
      const auto left = std::chrono::ceil<milliseconds>(start + *limit_.wait - base::Clock::now());
      if (left <= milliseconds::zero()) {
        looker.refuse_to_guess();
        return conclude(false);
      }
      next = std::min(next, left);
    }
    std::this_thread::sleep_for(next);
    pause = std::min(pause * 3 / 2, kLongestPause);
  }
}

}  // namespace

extern const VerbEntry wait_verb{.name = "wait",
                                 .summary = R"(wait until a lock is free, without taking it)",
                                 .head = R"(holdfast wait [OPTIONS] NAME

Waits until a lock is free, without taking it; somebody else may take it the next moment. Checks once or twice a
second. With several servers, the lock is free when nobody can have it on a majority.
)",
                                 .end = R"(
Exit codes
  0   free                                 64  wrong usage
  1   still held (-n, -w); another         69  no server (majority), or it refuses
      number with -E                       70  internal error

Examples
  holdfast wait deploy && echo "the deployment is over"
  holdfast wait -w 10m deploy
)",
                                 .make = make_verb<WaitVerb>};

}  // namespace holdfast::cli
