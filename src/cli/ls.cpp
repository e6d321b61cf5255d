// `holdfast ls`: the locks that are held.
#include <algorithm>
#include <future>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

/// The locks of one server.
struct ServerLocks {
  std::string node;
  std::variant<std::vector<LockInfo>, Error> result;
};

Listed listed(LockKind kind) {
  switch (kind) {
    case LockKind::simple:
      return Listed::simple_locks;
    case LockKind::write:
    case LockKind::read:
      return Listed::read_write_locks;
    case LockKind::permit:
      return Listed::leased_semaphores;
    case LockKind::semaphore:
      return Listed::semaphores;
    case LockKind::latch:
      return Listed::latches;
    case LockKind::lock:
    case LockKind::fenced:
    case LockKind::fair:
    case LockKind::spin:
      break;
  }
  return Listed::locks;
}

ServerLocks list(Config config, const LsOptions& options, Detail detail) {
  Client client(std::move(config));
  try {
    std::vector<LockInfo> locks = client.list(options.pattern, detail, listed(options.kind));
    std::ranges::sort(locks, {}, &LockInfo::name);
    return {client.node(), std::move(locks)};
  } catch (const Error& error) {
    return {client.node(), error};
  }
}

/// Asks all at the same time.
std::vector<ServerLocks> list_all(std::vector<Config> configs, const LsOptions& options, Detail detail) {
  std::vector<std::future<ServerLocks>> asked;
  for (Config& config : configs) {
    const auto policy = configs.size() == 1 ? std::launch::deferred : std::launch::async;
    asked.push_back(std::async(policy, list, std::move(config), options, detail));
  }
  std::vector<ServerLocks> listings;
  for (auto& each : asked) listings.push_back(each.get());
  return listings;
}

const std::vector<LockInfo>& locks_of(const ServerLocks& listing) {
  static const std::vector<LockInfo> none;
  const auto* locks = std::get_if<std::vector<LockInfo>>(&listing.result);
  return locks ? *locks : none;
}

std::string in_json(const std::vector<ServerLocks>& listings) {
  boost::json::array out;
  for (const ServerLocks& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) {
      boost::json::object row = cli::to_json(lock);
      row["node"] = listing.node;
      out.push_back(std::move(row));
    }
    if (const auto* error = std::get_if<Error>(&listing.result)) {
      out.push_back(boost::json::object{{"node", listing.node}, {"error", cli::to_json(Problem::from(*error))}});
    }
  }
  return json_line(out);
}

std::string in_names(const std::vector<ServerLocks>& listings) {
  std::vector<std::string> names;
  for (const ServerLocks& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) names.push_back(lock.name);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += printable(name) + "\n";
  return text;
}

using Row = std::vector<std::string>;

/// The column titles for a kind.
Row head(LockKind kind) {
  if (kind == LockKind::semaphore) return {"NAME", "FREE", "TTL", "WAITING"};
  if (kind == LockKind::latch) return {"NAME", "STEPS", "TTL", "WAITING"};
  if (is_read_write(kind)) return {"NAME", "OWNER", "MODE", "TTL", "WAITING", "HOLDER"};
  if (kind == LockKind::permit) return {"NAME", "FREE", "OWNER", "TTL", "WAITING", "HOLDER"};
  return {"NAME", "OWNER", "TTL", "WAITING", "HOLDER"};
}

std::string end_of(const std::optional<std::chrono::milliseconds>& remaining) {
  return remaining ? in_words(*remaining) : "none";
}

/// One for each holder.
std::vector<Row> rows_of(const LockInfo& lock, LockKind kind) {
  const std::string name = printable(lock.name);
  const std::string waiting = lock.listeners ? std::to_string(*lock.listeners) : "";
  const std::string free = lock.available ? std::to_string(*lock.available) : "";
  if (is_number(kind)) return {{name, free, end_of(lock.remaining), waiting}};
  std::vector<Row> rows;
  for (const LockHolder& each : lock.holders) {
    Row row{name};
    if (kind == LockKind::permit) row.push_back(free);
    row.push_back(printable(each.owner));
    if (is_read_write(kind)) row.emplace_back(each.mode == LockHolder::Mode::shared ? "reader" : "writer");
    row.push_back(end_of(each.remaining));
    row.push_back(waiting);
    row.push_back(each.holder ? to_string(*each.holder) : "");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string in_rows(const std::vector<ServerLocks>& listings, LockKind kind) {
  const bool several = listings.size() > 1;
  std::vector<Row> rows{head(kind)};
  if (several) rows.front().emplace_back("NODE");
  for (const ServerLocks& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) {
      for (Row& row : rows_of(lock, kind)) {
        if (several) row.push_back(listing.node);
        rows.push_back(std::move(row));
      }
    }
  }
  const auto by_name_and_node = [several](const Row& a, const Row& b) {
    return several ? std::tie(a.front(), a.back()) < std::tie(b.front(), b.back()) : a.front() < b.front();
  };
  std::stable_sort(rows.begin() + 1, rows.end(), by_name_and_node);
  return table(std::move(rows));
}

}  // namespace

int ls(const CommonOptions& common, const LsOptions& options, const Console& console) {
  const bool only_names = console.quiet() && !console.json();
  const std::vector<ServerLocks> listings =
      list_all(make_configs(common, console), options, only_names ? Detail::owner : Detail::holder);
  std::vector<const Error*> errors;
  for (const ServerLocks& listing : listings) {
    if (const auto* error = std::get_if<Error>(&listing.result)) errors.push_back(error);
  }
  if (listings.size() == 1 && !errors.empty()) throw Error(*errors.front());
  console.result(console.json()    ? in_json(listings)
                 : console.quiet() ? in_names(listings)
                                   : in_rows(listings, options.kind));
  for (const Error* error : errors) console.problem(Problem::from(*error));
  return errors.empty() ? kExitOk : kExitUnavailable;
}

}  // namespace holdfast::cli
