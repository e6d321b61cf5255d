// SPDX-License-Identifier: Apache-2.0
// The clients of a taker, and the locks that its names stand for.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "key_kinds.hpp"
#include "taker_config.hpp"
#include "taker_thread.hpp"

namespace holdfast::test {

/// Thread-safe.
class TakerLocks {
 public:
  /// `kind` is `lock`, `non_reentrant`, `simple`, `fenced`, `leader`, `fair`, `spin`, `leased`, `read_write`, `any`,
  /// `multi`, `red`, or `by_name`; `simple`: over the SET NX PX family.
  TakerLocks(std::vector<Client> clients, std::string kind, bool simple)
      : clients_(std::move(clients)), kind_(std::move(kind)), simple_(simple) {}

  std::vector<Client>& clients() { return clients_; }
  Client& client() { return clients_.front(); }

  /// Of what NAME stands for.
  std::string kind_of(const std::string& name) const {
    if (kind_ != "by_name") return kind_;
    const std::string key = key_of(name);
    return key.substr(0, key.find('.'));
  }
  /// NAME without the side of a read-write lock.
  static std::string key_of(const std::string& name) { return is_of_readers(name) ? name.substr(5) : name; }
  /// Any one of several locks, whose names have commas between them.
  bool is_any(const std::string& name) const { return kind_of(name) == "any" && name.find(',') != std::string::npos; }
  /// Others may have it beside its holder.
  bool is_shared(const std::string& name) const { return is_of_readers(name) || kind_of(name) == "leased"; }

  /// A single lock, for questions; of several servers on the first.
  KeyLock key_lock(const std::string& name) {
    const std::string kind = kind_of(name);
    if (simple_) return client().simple_lock(name);
    if (kind == "leader") return client().fenced_lock(name);
    if (kind == "leased") return client().leased_semaphore(name);
    const KeyKind* const known = key_kind(&KeyKind::word, kind);
    if (known == nullptr) return client().lock(name);
    return known->make(client(), kind == "read_write" ? key_of(name) : name);
  }

  BasicLock lock_of(const std::string& name) {
    const std::string kind = kind_of(name);
    if (kind == "lock") return client().lock(name);
    if (kind == "non_reentrant") return client().lock(name, {.reentrant = false});
    if (is_any(name)) return client().any_lock(split_list(name));
    if (kind == "read_write" && is_of_readers(name)) return client().read_write_lock(key_of(name)).reader();
    if (kind != "multi" && kind != "red") return key_lock(name);
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
  BasicLock group(const std::string& name, Kind (Client::*make)(std::string_view, LockOptions) const) {
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
