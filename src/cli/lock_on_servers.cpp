#include "cli/lock_on_servers.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/connect.hpp"

namespace holdfast::cli {
namespace {

/// These clients have nothing to release, so closing them need not wait.
constexpr std::chrono::milliseconds kReleaseLimit{50};

}  // namespace

LockOnServers::LockOnServers(std::vector<Config> configs, std::string name, LockKind kind) : name_(std::move(name)) {
  if (is_read_write(kind) && configs.size() > 1) throw UsageError("--kind read-write is for one server");
  if (kind == LockKind::permit && configs.size() > 1) throw UsageError("--kind permit is for one server");
  for (Config& config : configs) {
    config.release_timeout = kReleaseLimit;
    clients_.emplace_back(std::move(config));
  }
  for (const Client& client : clients_) locks_.push_back(key_lock(client, name_, kind));
  node_ = clients_.size() == 1 ? clients_.front().node() : fmt::format("{} servers", clients_.size());
}

Judgement LockOnServers::ask(Detail detail, std::optional<base::TimePoint> until) {
  std::vector<Answer> answers(locks_.size());
  for_each(
      [&](std::size_t i) {
        answers[i].node = clients_[i].node();
        try {
          answers[i].info = locks_[i].info(detail);
        } catch (const Error& error) {
          const bool given_up = error.code() == Errc::closed;
          answers[i].error = given_up ? Error(Errc::unreachable, name_, answers[i].node, "no answer in time") : error;
        }
      },
      until);
  return judge(name_, std::move(answers));
}

std::vector<LockOnServers::Part> LockOnServers::take_from_owners(const std::vector<Answer>& seen) {
  std::vector<Part> parts(locks_.size());
  for_each([&](std::size_t i) {
    if (!seen[i].held()) return;
    try {
      std::set<std::string> owners;  // a writer that also reads is listed twice
      for (const LockHolder& holder : seen[i].info->holders) owners.insert(holder.owner);
      for (const std::string& owner : owners) parts[i].taken |= locks_[i].force_release(owner);
    } catch (const Error& error) {
      parts[i].error = error;
    }
  });
  return parts;
}

std::string LockOnServers::in_words() const { return fmt::format("lock {} on {}", base::quote(name_), node_); }

void LockOnServers::for_each(const std::function<void(std::size_t)>& call, std::optional<base::TimePoint> until) {
  if (locks_.size() == 1 && !until) return call(0);
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t under_way = locks_.size();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    threads.emplace_back([&, i] {
      call(i);
      const std::lock_guard guard(mutex);
      --under_way;
      ended.notify_one();
    });
  }
  if (!until) return;
  std::unique_lock lock(mutex);
  if (ended.wait_for(lock, *until - base::Clock::now(), [&] { return under_way == 0; })) return;
  lock.unlock();
  for (const Client& client : clients_) client.close();
}

}  // namespace holdfast::cli
