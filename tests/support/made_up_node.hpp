// SPDX-License-Identifier: Apache-2.0
// A node of a cluster whose answers are made up by the test.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/port_lease.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {

/// Listens on 127.0.0.1 in a thread of its own. It lets everybody log in, and says OK to what is not asked of a test.
/// Thread-safe.
class MadeUpNode {
 public:
  using Command = std::vector<std::string>;
  /// The bytes of the answer to a command; empty: none comes. Called in the node's thread.
  using Answers = std::function<std::string(const Command&)>;

  /// HELLO it answers by itself.
  explicit MadeUpNode(Answers answers);
  MadeUpNode(const MadeUpNode&) = delete;
  MadeUpNode& operator=(const MadeUpNode&) = delete;
  ~MadeUpNode();

  std::uint16_t port() const { return port_.port(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  /// How often it has heard commands that begin with this word, in upper case.
  std::size_t heard(const std::string& word) const;

 private:
  struct Connection;
  void run();
  void read(Connection& connection);
  std::string answer(const Command& command);

  const Answers answers_;
  PortLease port_;
  Fd listener_;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> words_;  // guarded by mutex_
  std::thread thread_;
};

// Parts of answers, in RESP3.
std::string as_bulk(const std::string& text);
std::string as_array(const std::vector<std::string>& elements);
std::string as_number(long long number);
/// What CLUSTER SLOTS says of one range: its primary alone.
std::string as_range(int first, int last, const std::string& host, int port);

}  // namespace holdfast::test
