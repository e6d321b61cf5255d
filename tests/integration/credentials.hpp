// SPDX-License-Identifier: Apache-2.0
// Who gives passwords that change, and who changes them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "faults.hpp"

namespace holdfast::test {

/// Knows the user and the password of the moment. Thread-safe.
class Vault : public std::enable_shared_from_this<Vault> {
 public:
  explicit Vault(Credentials now) : now_(std::move(now)) {}

  /// For Config::credentials.
  CredentialsProvider provider() {
    return [self = shared_from_this()] { return self->give(); };
  }
  void set(Credentials now) {
    const std::scoped_lock guard(mutex_);
    now_ = std::move(now);
  }
  /// Runs in each call from now on, before the answer is looked up; it may throw, and wait.
  void meanwhile(std::function<void()> what) {
    const std::scoped_lock guard(mutex_);
    meanwhile_ = std::move(what);
  }
  int calls() const {
    const std::scoped_lock guard(mutex_);
    return calls_;
  }

 private:
  Credentials give() {
    std::function<void()> meanwhile;
    {
      const std::scoped_lock guard(mutex_);
      ++calls_;
      meanwhile = meanwhile_;
    }
    if (meanwhile) meanwhile();
    const std::scoped_lock guard(mutex_);
    return now_;
  }

  mutable std::mutex mutex_;
  Credentials now_;
  std::function<void()> meanwhile_;
  int calls_ = 0;
};

inline std::shared_ptr<Vault> vault_of(Credentials now) { return std::make_shared<Vault>(std::move(now)); }

/// A gate that calls wait at until it is opened, at its end at the latest.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }

  std::function<void()> wait() const {
    return [opened = opened_] { opened.wait(); };
  }
  void open() {
    if (!std::exchange(is_open_, true)) promise_.set_value();
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
  bool is_open_ = false;
};

/// The user of each connection of a client of the library, as the server tells.
inline std::vector<std::string> users_of_ours(const RedisServer& server) {
  std::vector<std::string> users;
  std::istringstream clients(Raw(server).command("CLIENT", "LIST").text);
  for (std::string line; std::getline(clients, line);) {
    const std::size_t at = line.find(" user=");
    if (line.find(" name=holdfast:") == line.npos || at == line.npos) continue;
    const std::size_t begin = at + 6;
    users.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  return users;
}

}  // namespace holdfast::test
