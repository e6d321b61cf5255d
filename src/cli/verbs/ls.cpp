// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`: the locks that are held.
#include <algorithm>
#include <array>
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
  std::vector<FoundLock> locks;
  std::optional<Error> error;  ///< Why there are none.
};

ServerLocks list(const Config& config, const std::string& pattern, const std::vector<LockKind>& kinds,
                 InfoDetail detail) {
  const Client client(config);
  ServerLocks out{client.node(), {}, {}};
  try {
    out.locks = list_kinds(client, pattern, kinds, detail);
  } catch (const Error& error) {
    out.error = error;
  }
  out.node = client.node();
  return out;
}

std::string in_json(const std::vector<ServerLocks>& listings) {
  boost::json::array out;
  for (const ServerLocks& listing : listings) {
    for (const FoundLock& found : listing.locks) {
      boost::json::object row = cli::to_json(found.lock);
      row["kind"] = row_of(found.kind).name;
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
    for (const FoundLock& found : listing.locks) names.push_back(found.lock.name);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += printable(name) + "\n";
  return text;
}

std::vector<LockKind> kinds_in(const std::vector<ServerLocks>& listings) {
  std::vector<LockKind> kinds;
  for (const ServerLocks& listing : listings) {
    for (const FoundLock& found : listing.locks) kinds.push_back(found.kind);
  }
  return kinds;
}

/// What the kinds have between them; what one does not have is empty in its rows.
struct Columns {
  Columns(const std::vector<LockKind>& kinds, bool with_kind)
      : kind(with_kind),
        owner(kinds.empty() || !std::ranges::all_of(kinds, [](LockKind each) { return is_number(each); })),
        mode(std::ranges::any_of(kinds, is_read_write)) {
    if (std::ranges::any_of(kinds, [](LockKind each) { return is_number(each) || each == LockKind::permit; })) {
      number = kinds.size() == 1 && kinds.front() == LockKind::latch ? "STEPS" : "FREE";
    }
  }
  Row row(const Row& all) const {  // of NAME, KIND, FREE, OWNER, MODE, TTL, WAITING, HOLDER
    const std::array shown{true, kind, number != nullptr, owner, mode, true, true, owner};
    Row out;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (shown.at(i)) out.push_back(all.at(i));
    }
    return out;
  }
  Row head() const {
    return row({"NAME", "KIND", number != nullptr ? number : "", "OWNER", "MODE", "TTL", "WAITING", "HOLDER"});
  }

  bool kind, owner, mode;
  const char* number = nullptr;
};

std::string end_of(const std::optional<std::chrono::milliseconds>& remaining) {
  return remaining ? in_words(*remaining) : "none";
}

/// One for each holder.
std::vector<Row> rows_of(const FoundLock& found, const Columns& columns) {
  const auto& [kind, lock] = found;
  const std::string name = printable(lock.name);
  const std::string kind_name = row_of(kind).name;
  const std::string waiting = lock.listeners ? std::to_string(*lock.listeners) : "";
  const std::string free = lock.available ? std::to_string(*lock.available) : "";
  if (is_number(kind)) return {columns.row({name, kind_name, free, "", "", end_of(lock.remaining), waiting, ""})};
  std::vector<Row> rows;
  for (const LockHolder& each : lock.holders) {
    const char* const mode = !is_read_write(kind) ? "" : each.mode == LockHolder::Mode::shared ? "reader" : "writer";
    rows.push_back(columns.row({name, kind_name, free, printable(each.owner), mode, end_of(each.remaining), waiting,
                                each.holder ? to_string(*each.holder) : ""}));
  }
  return rows;
}

std::string in_rows(const std::vector<ServerLocks>& listings, const Columns& columns) {
  const bool several = listings.size() > 1;
  std::vector<Row> rows{columns.head()};
  if (several) rows.front().emplace_back("NODE");
  for (const ServerLocks& listing : listings) {
    for (const FoundLock& found : listing.locks) {
      for (Row& row : rows_of(found, columns)) {
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
    line.kinds(kinds_,
               R"(lock, fenced, fair, spin: all of these, which look the same; read-write, with each reader;
permit, with each that is held; simple: any string with an expiry; semaphore or latch:
any number, which nobody can tell from one of another use; several (a,b); all: lock,
read-write, permit, simple. Among several, simple is only what has an owner's form.
Default: all; without a PATTERN not simple, for which all strings are looked at)");
  }
  void accept(const CommandLine& line) override { pattern_ = line.at_most_one("the pattern").value_or(pattern_); }
  int run(const Console& console) override;

 private:
  std::string pattern_ = "*";
  std::vector<LockKind> kinds_;
};

int LsVerb::run(const Console& console) {
  const bool only_names = console.quiet() && !console.json();
  const std::vector<LockKind> kinds = kinds_.empty() ? kinds_for(pattern_) : kinds_;
  const bool several = kinds.size() > 1;
  // What tells a simple lock from other strings is known with its holder.
  const bool with_holders = several && std::ranges::find(kinds, LockKind::simple) != kinds.end();
  const InfoDetail least = with_holders ? InfoDetail::holder_if_cheap : InfoDetail::owner;
  const InfoDetail detail = only_names ? least : InfoDetail::holder;
  const std::vector<ServerLocks> listings =
      ask_all(make_configs(console), [&](const Config& config) { return list(config, pattern_, kinds, detail); });
  if (listings.size() == 1 && listings.front().error) throw Error(*listings.front().error);
  console.result(console.json()    ? in_json(listings)
                 : console.quiet() ? in_names(listings)
                                   : in_rows(listings, Columns(several ? kinds_in(listings) : kinds, several)));
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
  holdfast ls --kind simple 'sessions:*'
  holdfast ls --kind permit 'gpu*'
  holdfast ls 'orders:*' --json | jq -r '.[].name'
)",
                               .make = make_verb<LsVerb>};

}  // namespace holdfast::cli
