#include "cli/servers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/red_lock.hpp>

#include "cli/connect.hpp"

namespace holdfast::cli {
namespace {

/// How long servers may take to say who holds a lock, when there are several: one that is silent must not delay a lock
/// that the others can grant.
constexpr std::chrono::milliseconds kAnswerLimit{300};

/// How long the closing of several servers may take. A release that can arrive has been sent long before that.
constexpr std::chrono::milliseconds kCloseLimit{500};

template <class Make>
BasicLock made_of(std::vector<Client>& clients, const std::vector<std::string>& names, Make make) {
  std::vector<MultiLock> on_each;
  for (Client& client : clients) {
    std::vector<decltype(make(client, names.front()))> members;
    for (const std::string& name : names) members.push_back(make(client, name));
    on_each.emplace_back(members);
  }
  if (on_each.size() == 1) return on_each.front();
  return RedLock(on_each);
}

/// The first of these locks that is held. Only for a message, so failures are left to the acquire to report.
std::optional<LockInfo> first_held(const std::vector<KeyLock>& locks) {
  try {
    for (const KeyLock& lock : locks) {
      LockInfo info = lock.info();
      if (!info.owner.empty()) return info;
    }
  } catch (const Error&) {
  }
  return std::nullopt;
}

}  // namespace

Servers::Servers(std::vector<Config> configs) {
  for (Config& config : configs) clients_.emplace_back(std::move(config));
}

BasicLock Servers::lock(const std::vector<std::string>& names, LockKind kind) {
  if (kind == LockKind::simple) {
    return made_of(clients_, names, [](Client& client, const std::string& name) { return client.simple_lock(name); });
  }
  return made_of(clients_, names, [](Client& client, const std::string& name) { return client.lock(name); });
}

std::optional<LockInfo> Servers::holder(const std::vector<std::string>& names, LockKind kind) {
  std::vector<std::vector<KeyLock>> on_each;
  for (Client& client : clients_) {
    on_each.emplace_back();
    for (const std::string& name : names) on_each.back().push_back(key_lock(client, name, kind));
  }
  if (on_each.size() == 1) return first_held(on_each.front());

  std::vector<std::future<std::optional<LockInfo>>> answers;
  for (std::vector<KeyLock>& locks : on_each) {
    answers.push_back(std::async(std::launch::async, [locks = std::move(locks)] { return first_held(locks); }));
  }
  const auto limit = std::chrono::steady_clock::now() + kAnswerLimit;
  std::optional<LockInfo> found;
  for (auto& answer : answers) {
    if (answer.wait_until(limit) == std::future_status::ready) {
      std::optional<LockInfo> info = answer.get();
      if (!found) found = std::move(info);
    } else {
      late_.push_back(std::move(answer));
    }
  }
  return found;
}

std::string Servers::in_words() const {
  return clients_.size() == 1 ? clients_.front().node() : fmt::format("{} servers", clients_.size());
}

std::vector<std::string> Servers::nodes() const {
  std::vector<std::string> nodes;
  for (const Client& client : clients_) nodes.push_back(client.node());
  return nodes;
}

std::uint64_t Servers::renewals() const { return clients_.front().counters().renewals; }

bool Servers::close() {
  if (clients_.size() == 1) {
    clients_.front().close();
    return true;
  }
  for (Client& client : clients_) closing_.push_back(std::async(std::launch::async, [&client] { client.close(); }));
  const auto limit = std::chrono::steady_clock::now() + kCloseLimit;
  return std::ranges::all_of(
      closing_, [&](const std::future<void>& each) { return each.wait_until(limit) == std::future_status::ready; });
}

}  // namespace holdfast::cli
