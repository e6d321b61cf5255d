#include "cli/servers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <semaphore>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/red_lock.hpp>

#include "cli/connect.hpp"

namespace holdfast::cli {
namespace {

/// How long closing may take. A release that can arrive has been sent long before that.
constexpr std::chrono::milliseconds kCloseLimit{300};

template <class Make>
BasicLock made_of(const std::vector<Client>& clients, const std::vector<std::string>& names, Make make) {
  std::vector<MultiLock> on_each;
  for (const Client& client : clients) {
    std::vector<decltype(make(client, names.front()))> members;
    for (const std::string& name : names) members.push_back(make(client, name));
    on_each.emplace_back(members);
  }
  if (on_each.size() == 1) return on_each.front();
  return RedLock(on_each);
}

/// Readers do not exclude readers.
bool in_the_way(const LockInfo& info, LockKind kind) {
  if (kind != LockKind::read) return !info.owner.empty();
  const auto writes = [](const LockHolder& holder) { return holder.mode == LockHolder::Mode::exclusive; };
  return std::ranges::any_of(info.holders, writes);
}

/// The held ones among these locks; for the first, also who holds it. Only for a message, so failures are left for the
/// acquire to report.
std::optional<std::vector<LockInfo>> held(const std::vector<KeyLock>& locks, LockKind kind) {
  std::vector<LockInfo> found;
  try {
    for (const KeyLock& lock : locks) {
      LockInfo info = lock.info(found.empty() ? Detail::holder_if_cheap : Detail::owner);
      if (in_the_way(info, kind)) found.push_back(std::move(info));
    }
  } catch (const Error&) {
    if (found.empty()) return std::nullopt;
  }
  return found;
}

}  // namespace

Servers::Servers(std::vector<Config> configs) {
  for (Config& config : configs) clients_.emplace_back(std::move(config));
}

BasicLock Servers::lock(const std::vector<std::string>& names, LockKind kind) const {
  if (kind == LockKind::fenced) {
    if (names.size() > 1 || clients_.size() > 1) {
      throw UsageError("run: --kind fenced is for one name on one server: several have no token in common");
    }
    return clients_.front().fenced_lock(names.front());
  }
  if (kind == LockKind::fair) {
    if (names.size() > 1 || clients_.size() > 1) {
      throw UsageError("run: --fair is for one name on one server: several have no queue in common");
    }
    return clients_.front().fair_lock(names.front());
  }
  if (is_read_write(kind)) {
    if (names.size() > 1 || clients_.size() > 1) {
      throw UsageError("run: --shared and --kind read-write are for one name on one server");
    }
    return key_lock(clients_.front(), names.front(), kind);
  }
  if (kind == LockKind::spin) {
    if (names.size() > 1 || clients_.size() > 1) throw UsageError("run: --kind spin is for one name on one server");
    return clients_.front().spin_lock(names.front());
  }
  if (kind == LockKind::permit) {
    if (names.size() > 1 || clients_.size() > 1) {
      throw UsageError("run: --max is for one name on one server");
    }
    return key_lock(clients_.front(), names.front(), kind);
  }
  if (kind == LockKind::simple) {
    return made_of(clients_, names,
                   [](const Client& client, const std::string& name) { return client.simple_lock(name); });
  }
  return made_of(clients_, names, [](const Client& client, const std::string& name) { return client.lock(name); });
}

BasicLock Servers::any_of(const std::vector<std::string>& names, LockKind kind) const {
  if (kind != LockKind::lock || clients_.size() > 1) {
    throw UsageError("run: --any is for --kind lock on one server");
  }
  return clients_.front().any_of(names);
}

void Servers::say_how_many(const std::string& name, int permits, std::chrono::milliseconds limit,
                           const std::stop_token& stop) {
  struct Saying {
    std::counting_semaphore<2> over{0};  // by the answer, or by the stop
    std::atomic<bool> answered{false};
    std::exception_ptr failure;
  };
  const auto saying = std::make_shared<Saying>();
  late_calls_.push_back(
      std::async(std::launch::async, [saying, permits, all = clients_.front().leased_semaphore(name)] {
        try {
          all.set_total(permits);
        } catch (...) {
          saying->failure = std::current_exception();
        }
        saying->answered = true;
        saying->over.release();
      }));
  const std::stop_callback stopped(stop, [saying] { saying->over.release(); });
  std::ignore = saying->over.try_acquire_for(limit);
  if (!saying->answered) {
    if (stop.stop_requested()) throw Error(Errc::cancelled, name, clients_.front().node(), {});
    throw Error(Errc::unreachable, name, clients_.front().node(), "no answer in time to how many permits there are");
  }
  if (saying->failure) std::rethrow_exception(saying->failure);
}

std::optional<std::vector<LockInfo>> Servers::holders(const std::vector<std::string>& names, LockKind kind,
                                                      std::chrono::milliseconds limit) {
  std::vector<std::future<std::optional<std::vector<LockInfo>>>> answers;
  for (const Client& client : clients_) {
    std::vector<KeyLock> locks;
    for (const std::string& name : names) locks.push_back(key_lock(client, name, kind));
    answers.push_back(std::async(std::launch::async, [locks = std::move(locks), kind] { return held(locks, kind); }));
  }
  const auto end = std::chrono::steady_clock::now() + limit;
  std::optional<std::vector<LockInfo>> found;
  for (auto& answer : answers) {
    if (answer.wait_until(end) != std::future_status::ready) {
      late_.push_back(std::move(answer));
    } else if (std::optional<std::vector<LockInfo>> here = answer.get()) {
      if (!found) found.emplace();
      found->insert(found->end(), here->begin(), here->end());
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

bool Servers::reached() const {
  const auto connected = [](const Client& client) { return client.counters().connections > 0; };
  return static_cast<std::size_t>(std::ranges::count_if(clients_, connected)) > clients_.size() / 2;
}

void Servers::close() {
  for (const Client& client : clients_)
    closing_.push_back(std::async(std::launch::async, [&client] { client.close(); }));
  const auto limit = std::chrono::steady_clock::now() + kCloseLimit;
  for (const std::future<void>& each : closing_) each.wait_until(limit);
}

}  // namespace holdfast::cli
