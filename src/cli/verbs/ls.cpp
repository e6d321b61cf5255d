// `holdfast ls`: the locks that are held.
#include <algorithm>
#include <tuple>

#include <holdfast/client.hpp>

#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using Row = std::vector<std::string>;

/// The locks of one server.
struct ServerLocks {
  std::string node;
  std::vector<LockInfo> locks;
  std::optional<Error> error;  ///< Why there are none.
};

ServerLocks list(const Config& config, const std::string& pattern, LockKind kind, InfoDetail detail) {
  const Client client(config);
  try {
    std::vector<LockInfo> locks = client.list(pattern, detail, row_of(kind).listed);
    std::ranges::sort(locks, {}, &LockInfo::name);
    return {client.node(), std::move(locks), {}};
  } catch (const Error& error) {
    return {client.node(), {}, error};
  }
}

std::string in_json(const std::vector<ServerLocks>& listings) {
  boost::json::array out;
  for (const ServerLocks& listing : listings) {
    for (const LockInfo& lock : listing.locks) {
      boost::json::object row = cli::to_json(lock);
      row["node"] = listing.node;
      out.push_back(std::move(row));
    }
    if (listing.error) {
      out.push_back(
          boost::json::object{{"node", listing.node}, {"error", cli::to_json(Problem::from(*listing.error))}});
    }
  }
  return json_line(out);
}

std::string in_names(const std::vector<ServerLocks>& listings) {
  std::vector<std::string> names;
  for (const ServerLocks& listing : listings) {
    for (const LockInfo& lock : listing.locks) names.push_back(lock.name);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += printable(name) + "\n";
  return text;
}

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
    for (const LockInfo& lock : listing.locks) {
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

class LsVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kind(kind_,
              R"(lock (default), fenced, fair, spin: all of these, which look the same; or read-write, with
each reader; permit, with each that is held; simple: any string with an expiry; semaphore
or latch: any number, which nobody can tell from one of another use)",
              KindsFor::looking);
  }
  void accept(const CommandLine& line) override { pattern_ = line.at_most_one("the pattern").value_or(pattern_); }
  int run(const Console& console) override;

 private:
  std::string pattern_ = "*";
  LockKind kind_ = LockKind::lock;
};

int LsVerb::run(const Console& console) {
  const bool only_names = console.quiet() && !console.json();
  const InfoDetail detail = only_names ? InfoDetail::owner : InfoDetail::holder;
  const std::vector<ServerLocks> listings =
      ask_all(make_configs(console), [&](const Config& config) { return list(config, pattern_, kind_, detail); });
  if (listings.size() == 1 && listings.front().error) throw Error(*listings.front().error);
  console.result(console.json() ? in_json(listings) : console.quiet() ? in_names(listings) : in_rows(listings, kind_));
  int exit_code = kExitOk;
  for (const ServerLocks& listing : listings) {
    if (!listing.error) continue;
    console.problem(Problem::from(*listing.error));
    exit_code = kExitUnavailable;
  }
  return exit_code;
}

}  // namespace

extern const VerbEntry ls_verb{.name = "ls",
                               .summary = R"(list the locks that are held)",
                               .head = R"(holdfast ls [OPTIONS] [PATTERN]

Lists the locks that are held and whose names match the pattern (a glob; default *), and who holds them: host, process
and label, as far as the holder's connection gives them; and up to how many clients wait. Goes through the whole server
in small steps (SCAN); locks that come and go meanwhile may be missed. With several servers, the locks of each are
listed.
)",
                               .end = R"(
Exit codes
  0   done, even if there are none         64  wrong usage
  69  no server, or it refuses             70  internal error

Examples
  holdfast ls
  holdfast ls --kind permit 'gpu*'
  holdfast ls 'orders:*' --json | jq -r '.[].name'
)",
                               .make = make_verb<LsVerb>};

}  // namespace holdfast::cli
