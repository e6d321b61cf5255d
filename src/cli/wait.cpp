// `holdfast wait`: until a lock is free, without taking it.
#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// The pause between two looks grows from the first to the second, so that a long wait costs the server next to nothing.
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{1000};

/// 50 to 100 % of it, so that many waiters do not ask at the same moment.
milliseconds jittered(milliseconds pause) {
  static std::minstd_rand random(std::random_device{}());
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

/// Looks at the lock, and bears a server that is away for a while once it has answered.
class Looker {
 public:
  Looker(KeyLock lock, milliseconds patience) : lock_(std::move(lock)), patience_(patience) {}

  /// Empty: no answer this time. Throws Error.
  std::optional<LockInfo> look() {
    try {
      LockInfo info = lock_.info();
      last_answer_ = base::Clock::now();
      return info;
    } catch (const Error& error) {
      const bool passing = error.code() == Errc::unreachable || error.code() == Errc::unknown_outcome;
      if (!passing || !last_answer_ || base::Clock::now() - *last_answer_ > patience_) throw;
      return std::nullopt;
    }
  }

 private:
  KeyLock lock_;
  milliseconds patience_;
  std::optional<base::TimePoint> last_answer_;
};

}  // namespace

int wait(const CommonOptions& common, const WaitOptions& options, const Console& console) {
  const Config config = make_config(common);
  Client client(config);
  Looker looker(key_lock(client, options.name, options.kind), config.patience);
  const std::string lock_in_words = fmt::format("lock {} on {}", base::quote(options.name), client.node());
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

  while (true) {
    const std::optional<LockInfo> info = looker.look();
    if (info && info->owner.empty()) return conclude(true);
    if (info && info->owner != holder) {
      holder = info->owner;
      console.detail(fmt::format("{}: held by {}, waiting", lock_in_words, printable(holder)));
    }
    milliseconds next = jittered(pause);
    if (info && info->remaining) next = std::min(next, *info->remaining + milliseconds(1));
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
