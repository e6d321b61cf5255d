// `holdfast elect --watch`: who leads, one line for each change.
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Between two checks.
constexpr milliseconds kBetweenLooks{250};

struct Leading {
  LockInfo info;
  std::int64_t token = 0;
};

/// The present leader, if the server answers, with a token that is certainly that leader's. Empty: the leader has
/// changed meanwhile.
std::optional<Leading> look_for_leader(const FencedLock& lock, const std::string& seen) {
  LockInfo info = lock.info(Detail::owner);
  if (info.owner == seen || info.owner.empty()) return Leading{std::move(info)};
  const std::int64_t token = lock.latest_token();
  LockInfo again = lock.info(Detail::holder_if_cheap);
  if (again.owner != info.owner) return std::nullopt;
  return Leading{std::move(again), token};
}

std::string leader_json(const Leading& leading) {
  boost::json::object out = cli::to_json(leading.info);
  const bool held = !leading.info.owner.empty();
  out["token"] = held ? boost::json::value(leading.token) : boost::json::value(nullptr);
  return json_line(out);
}

std::string leader_line(const Leading& leading) {
  if (leading.info.owner.empty()) return "nobody leads\n";
  return fmt::format("{} is the leader, with token {}\n", holder_in_words(leading.info), leading.token);
}

}  // namespace

int watch_election(const CommonOptions& common, const std::string& name, const Console& console) {
  std::vector<Config> configs = make_configs(common, console);
  if (configs.size() > 1) throw UsageError("elect is for one server: several have no token in common");
  const Client client(std::move(configs.front()));
  const FencedLock lock = client.fenced_lock(name);
  std::optional<std::string> seen;
  std::string trouble;
  while (true) {
    milliseconds next = kBetweenLooks;
    try {
      const std::optional<Leading> leading = look_for_leader(lock, seen.value_or(""));
      trouble.clear();
      if (!leading) continue;
      if (leading->info.owner != seen) console.result(console.json() ? leader_json(*leading) : leader_line(*leading));
      seen = leading->info.owner;
      if (leading->info.remaining) next = std::min(next, *leading->info.remaining + milliseconds(1));
    } catch (const Error& error) {
      if (!error.may_pass()) throw;
      if (trouble != error.what()) console.note(fmt::format("{}; trying again", error.what()));
      trouble = error.what();
    }
    std::this_thread::sleep_for(next);
  }
}

}  // namespace holdfast::cli
