#include "cli/top_view.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// The key alone does not say more: `lock` may also be a fenced or spin lock, or a fair lock without waiters.
const char* kind(const LockInfo& lock) { return lock.queued.value_or(0) > 0 ? "fair" : "lock"; }

std::string number(const std::optional<std::uint64_t>& count) { return count ? std::to_string(*count) : ""; }

std::string held(const TopRow& row) {
  // Tenths are useless on a screen that refreshes every two seconds.
  const auto whole = std::chrono::floor<std::chrono::seconds>(row.held);
  const std::string words = whole.count() < 100 ? fmt::format("{} s", whole.count()) : in_words(whole);
  return row.held_longer ? "> " + words : words;
}

/// The holder as `ls` names it, and how many others there are.
std::string holder(const LockInfo& lock) {
  if (!lock.holder || lock.holder->connection == Holder::Connection::open) return holder_in_words(lock);
  return to_string(*lock.holder);
}

bool comes_before(const TopRow& a, const TopRow& b, TopOrder order) {
  constexpr milliseconds kNever = milliseconds::max();
  switch (order) {
    case TopOrder::waiters:
      if (a.waiting() != b.waiting()) return a.waiting() > b.waiting();
      [[fallthrough]];
    case TopOrder::held:
      if (a.held != b.held) return a.held > b.held;
      break;
    case TopOrder::ttl:
      if (a.lock.remaining != b.lock.remaining) {
        return a.lock.remaining.value_or(kNever) < b.lock.remaining.value_or(kNever);
      }
      break;
    case TopOrder::name:
      break;
  }
  return std::tie(a.lock.name, a.node) < std::tie(b.lock.name, b.node);
}

/// Another order than the usual one is marked at its column.
std::vector<std::string> titles(TopOrder order) {
  std::vector<std::string> titles{"NAME", "KIND", "HELD FOR", "TTL", "WAITERS", "QUEUE", "HOLDER"};
  if (order == TopOrder::held) titles[2] += "*";
  if (order == TopOrder::ttl) titles[3] += "*";
  if (order == TopOrder::name) titles[0] += "*";
  return titles;
}

}  // namespace

TopOrder next(TopOrder order) {
  switch (order) {
    case TopOrder::waiters:
      return TopOrder::held;
    case TopOrder::held:
      return TopOrder::ttl;
    case TopOrder::ttl:
      return TopOrder::name;
    case TopOrder::name:
      break;
  }
  return TopOrder::waiters;
}

void TopView::sort(TopOrder by) {
  order = by;
  std::ranges::sort(rows, [by](const TopRow& a, const TopRow& b) { return comes_before(a, b, by); });
}

std::string TopView::in_lines() const {
  std::string text;
  for (const SeenServer& server : servers) {
    if (!server.up)
      text +=
          for_log(without_logins(server.trouble.empty() ? server.server + ": no answer yet" : server.trouble)) + "\n";
  }
  const bool several = servers.size() > 1;
  std::vector<std::vector<std::string>> lines{titles(order)};
  if (several) lines.front().emplace_back("NODE");
  for (const TopRow& row : rows) {
    const LockInfo& lock = row.lock;
    lines.push_back({printable(lock.name), kind(lock), held(row), lock.remaining ? in_words(*lock.remaining) : "none",
                     number(lock.listeners), number(lock.queued), holder(lock)});
    if (several) lines.back().push_back(row.node);
  }
  return text + table(std::move(lines));
}

boost::json::object TopView::in_json(std::chrono::system_clock::time_point at) const {
  boost::json::object out;
  out["at_ms"] = duration_cast<milliseconds>(at.time_since_epoch()).count();
  boost::json::array& nodes = out["servers"].emplace_array();
  for (const SeenServer& server : servers) {
    boost::json::object each{{"node", server.server}, {"up", server.up}, {"error", nullptr}};
    if (!server.trouble.empty()) put_text(each, "error", without_logins(server.trouble));
    nodes.push_back(std::move(each));
  }
  boost::json::array& locks = out["locks"].emplace_array();
  for (const TopRow& row : rows) {
    boost::json::object each = to_json(row.lock);
    each["node"] = row.node;
    each["kind"] = kind(row.lock);
    put_ms(each, "held_ms", row.held);
    each["held_longer"] = row.held_longer;
    locks.push_back(std::move(each));
  }
  return out;
}

TopView TopMemory::take(std::vector<SeenServer> servers, base::TimePoint now) {
  TopView view;
  for (SeenServer& server : servers) {
    if (!server.up) continue;
    const bool first = !since_.contains(server.server);
    std::map<std::string, Since> before = std::exchange(since_[server.server], {});
    for (LockInfo& lock : server.listed) {
      const auto known = before.find(lock.name);
      const bool same = known != before.end() && known->second.owner == lock.owner;
      const Since since = same ? known->second : Since{lock.owner, now, first};
      since_[server.server][lock.name] = since;
      view.rows.push_back(
          {server.server, std::move(lock), duration_cast<milliseconds>(now - since.time), since.longer});
    }
    server.listed.clear();
  }
  view.servers = std::move(servers);
  view.sort(TopOrder::waiters);
  return view;
}

}  // namespace holdfast::cli
