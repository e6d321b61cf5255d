// `holdfast wait`: until a lock is free, without taking it.
#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/lock_on_servers.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// The pause between two looks grows from the first to the second, so that a long wait costs the server next to nothing.
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{1000};

/// The look at the very end of a limit on waiting may take this long.
constexpr milliseconds kLastLook{50};

/// 50 to 100 % of it, so that many waiters do not ask at the same moment.
milliseconds jittered(milliseconds pause) {
  static std::minstd_rand random(std::random_device{}());
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

/// Looks at the lock, and bears servers that are away for a while once they have answered.
class Looker {
 public:
  Looker(LockOnServers& lock, milliseconds patience) : lock_(lock), patience_(patience) {}

  /// Empty: no answer this time, or too few. Throws Error. The last look when `until` has come.
  std::optional<Survey> look(std::optional<base::TimePoint> until) {
    Survey survey = lock_.ask(Detail::owner, until);
    if (survey.verdict != Survey::Verdict::undecided) {
      bears_until_ = base::Clock::now() + patience_;
      return survey;
    }
    const Error error = no_majority(survey);
    const bool transient =
        error.code() == Errc::unreachable || error.code() == Errc::unknown_outcome || error.code() == Errc::no_quorum;
    if (!transient || base::Clock::now() > bears_until_) throw Error(error);
    return std::nullopt;
  }

 private:
  LockOnServers& lock_;
  milliseconds patience_;
  base::TimePoint bears_until_{};  // long ago, until the first answer
};

}  // namespace

int wait(const CommonOptions& common, const WaitOptions& options, const Console& console) {
  std::vector<Config> configs = make_configs(common, console);
  const milliseconds patience = configs.front().patience;
  LockOnServers lock(std::move(configs), options.name, options.kind);
  Looker looker(lock, patience);
  const std::string lock_in_words = lock.in_words();
  const base::TimePoint start = base::Clock::now();
  std::string holder;
  milliseconds pause = kFirstPause;

  const auto conclude = [&](bool free) {
    const auto waited = std::chrono::duration_cast<milliseconds>(base::Clock::now() - start);
    if (console.json()) {
      boost::json::object out;
      put_text(out, "name", options.name);
      out["free"] = free;
      put_ms(out, "waited_ms", waited);
      out["waited_for"] = nullptr;
      if (!holder.empty()) put_text(out, "waited_for", holder);
      console.result(json_line(out));
    }
    if (!free) console.note(fmt::format("{}: still held by {}", lock_in_words, printable(holder)));
    if (free) console.detail(fmt::format("{}: free after {}", lock_in_words, in_words(waited)));
    return free ? kExitOk : options.conflict_exit_code;
  };

  // To look once is to look until there is an answer.
  const bool limited = options.wait && *options.wait > milliseconds::zero();
  const auto look_ends = [&]() -> std::optional<base::TimePoint> {
    if (!limited) return std::nullopt;
    return std::max(start + *options.wait, base::Clock::now() + kLastLook);
  };

  while (true) {
    const std::optional<Survey> survey = looker.look(look_ends());
    if (survey && survey->verdict == Survey::Verdict::free) return conclude(true);
    if (survey && survey->lock.owner != holder) {
      holder = survey->lock.owner;
      console.detail(fmt::format("{}: held by {}, waiting", lock_in_words, printable(holder)));
    }
    milliseconds next = jittered(pause);
    if (survey && survey->lock.remaining) next = std::min(next, *survey->lock.remaining + milliseconds(1));
    if (options.wait) {
      const auto left = std::chrono::ceil<milliseconds>(start + *options.wait - base::Clock::now());
      if (left <= milliseconds::zero()) return conclude(false);
      next = std::min(next, left);
    }
    std::this_thread::sleep_for(next);
    pause = std::min(pause * 3 / 2, kLongestPause);
  }
}

}  // namespace holdfast::cli
