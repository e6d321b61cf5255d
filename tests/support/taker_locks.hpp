// The clients of a taker, and the locks that its names stand for.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "taker_config.hpp"
#include "taker_thread.hpp"

namespace holdfast::test {

/// Thread-safe.
class TakerLocks {
 public:
  /// `kind` is `lock`, `non_reentrant`, `simple`, `fenced`, `fair`, `spin`, `leased`, `read_write`, `multi` or `red`;
  /// `simple`: over the SET NX PX family.
  TakerLocks(std::vector<Client> clients, std::string kind, bool simple)
      : clients_(std::move(clients)), kind_(std::move(kind)), simple_(simple) {}

  std::vector<Client>& clients() { return clients_; }
  Client& client() { return clients_.front(); }

  /// A single lock, for questions; of several servers on the first.
  KeyLock key_lock(const std::string& name) {
    if (simple_) return client().simple_lock(name);
    if (kind_ == "fair") return client().fair_lock(name);
    if (kind_ == "spin") return client().spin_lock(name);
    if (kind_ == "leased") return client().leased_semaphore(name);
    if (kind_ == "read_write") return client().read_write_lock(is_of_readers(name) ? name.substr(5) : name);
    return client().lock(name);
  }

  BasicLock lock_of(const std::string& name) {
    if (kind_ == "lock") return client().lock(name);
    if (kind_ == "non_reentrant") return client().lock(name, {.reentrant = false});
    if (kind_ == "simple") return client().simple_lock(name);
    if (kind_ == "fenced") return client().fenced_lock(name);
    if (kind_ == "fair") return client().fair_lock(name);
    if (kind_ == "spin") return client().spin_lock(name);
    if (kind_ == "leased") return client().leased_semaphore(name);
    if (kind_ == "read_write") {
      if (is_of_readers(name)) return client().read_write_lock(name.substr(5)).reader();
      return client().read_write_lock(name);
    }
    const std::lock_guard guard(mutex_);
    const auto found = groups_.find(name);
    if (found != groups_.end()) return found->second;
    return groups_
        .emplace(name, simple_ ? group<SimpleLock>(name, &Client::simple_lock) : group<Lock>(name, &Client::lock))
        .first->second;
  }
  /// The thread's own handle, which can still be asked when the client is closed.
  BasicLock& lock_of(const std::string& name, TakerThread& thread) {
    const auto found = thread.locks.find(name);
    return found != thread.locks.end() ? found->second : thread.locks.emplace(name, lock_of(name)).first->second;
  }

 private:
  /// `read:` and the name of the lock.
  static bool is_of_readers(const std::string& name) { return name.starts_with("read:"); }

  template <class Kind>
  BasicLock group(const std::string& name, Kind (Client::*make)(std::string_view, AcquireOptions) const) {
    std::vector<Kind> members;
    if (kind_ == "red") {
      for (Client& each : clients_) members.push_back((each.*make)(name, {}));
      return RedLock(members);
    }
    for (const std::string& part : split_list(name)) {
      members.push_back((clients_[members.size() % clients_.size()].*make)(part, {}));
    }
    return MultiLock(members);
  }

  std::vector<Client> clients_;  // these, from the beginning to the end
  const std::string kind_;
  const bool simple_;
  std::mutex mutex_;
  std::map<std::string, BasicLock> groups_;  // of several locks, by name: they count and queue by object
};

}  // namespace holdfast::test
