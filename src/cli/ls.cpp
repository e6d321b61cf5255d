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

/// What one server has.
struct Listing {
  std::string node;
  std::variant<std::vector<LockInfo>, Error> result;
};

Listing list(Config config, const std::string& pattern, Detail detail) {
  Client client(std::move(config));
  try {
    std::vector<LockInfo> locks = client.list(pattern, detail);
    std::ranges::sort(locks, {}, &LockInfo::name);
    return {client.node(), std::move(locks)};
  } catch (const Error& error) {
    return {client.node(), error};
  }
}

/// Asks all at the same time.
std::vector<Listing> list_all(std::vector<Config> configs, const std::string& pattern, Detail detail) {
  std::vector<std::future<Listing>> asked;
  for (Config& config : configs) {
    const auto policy = configs.size() == 1 ? std::launch::deferred : std::launch::async;
    asked.push_back(std::async(policy, list, std::move(config), pattern, detail));
  }
  std::vector<Listing> listings;
  for (auto& each : asked) listings.push_back(each.get());
  return listings;
}

const std::vector<LockInfo>& locks_of(const Listing& listing) {
  static const std::vector<LockInfo> none;
  const auto* locks = std::get_if<std::vector<LockInfo>>(&listing.result);
  return locks ? *locks : none;
}

std::string in_json(const std::vector<Listing>& listings) {
  boost::json::array out;
  for (const Listing& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) {
      boost::json::object row = cli::to_json(lock);
      row["node"] = listing.node;
      out.push_back(std::move(row));
    }
    if (const auto* error = std::get_if<Error>(&listing.result)) {
      out.push_back(boost::json::object{{"node", listing.node}, {"error", cli::to_json(Failure::from(*error))}});
    }
  }
  return json_line(out);
}

std::string in_names(const std::vector<Listing>& listings) {
  std::vector<std::string> names;
  for (const Listing& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) names.push_back(lock.name);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += printable(name) + "\n";
  return text;
}

std::string in_rows(const std::vector<Listing>& listings) {
  const bool several = listings.size() > 1;
  std::vector<std::vector<std::string>> rows{{"NAME", "OWNER", "TTL", "WAITING", "HOLDER"}};
  if (several) rows.front().emplace_back("NODE");
  for (const Listing& listing : listings) {
    for (const LockInfo& lock : locks_of(listing)) {
      rows.push_back({printable(lock.name), printable(lock.owner), lock.remaining ? in_words(*lock.remaining) : "none",
                      lock.listeners ? std::to_string(*lock.listeners) : "",
                      lock.holder ? to_string(*lock.holder) : ""});
      if (several) rows.back().push_back(listing.node);
    }
  }
  const auto by_name_and_node = [](const auto& a, const auto& b) {
    return std::tie(a.front(), a.back()) < std::tie(b.front(), b.back());
  };
  std::sort(rows.begin() + 1, rows.end(), by_name_and_node);
  return table(std::move(rows));
}

}  // namespace

int ls(const CommonOptions& common, const LsOptions& options, const Console& console) {
  const bool only_names = console.quiet() && !console.json();
  const std::vector<Listing> listings =
      list_all(make_configs(common, console), options.pattern, only_names ? Detail::owner : Detail::holder);
  std::vector<const Error*> errors;
  for (const Listing& listing : listings) {
    if (const auto* error = std::get_if<Error>(&listing.result)) errors.push_back(error);
  }
  if (listings.size() == 1 && !errors.empty()) throw Error(*errors.front());
  console.result(console.json() ? in_json(listings) : console.quiet() ? in_names(listings) : in_rows(listings));
  for (const Error* error : errors) console.failure(Failure::from(*error));
  return errors.empty() ? kExitOk : kExitUnavailable;
}

}  // namespace holdfast::cli
