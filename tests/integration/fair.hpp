// SPDX-License-Identifier: Apache-2.0
// A server with a fair lock named orders, its queue, and clients that wait for it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "faults.hpp"
#include "support/taker.hpp"

namespace holdfast::test {

inline const std::string kQueue = "redisson_lock_queue:{orders}", kDeadlines = "redisson_lock_timeout:{orders}";
inline const std::string kRedissons = "99999999-2222-4333-8444-555555555555:7";

class Fair : public Faults {
 protected:
  Fair() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  /// A turn that a healthy test never needs.
  Config patient() const {
    Config settings = config();
    settings.kinds.fair_turn = 60s;
    settings.lease = 60s;
    return settings;
  }
  std::vector<std::string> queue() {
    std::vector<std::string> owners;
    for (const Reply& owner : raw.command("LRANGE", kQueue, 0, -1).elements) owners.push_back(owner.text);
    return owners;
  }
  /// So many are queued, each with a deadline.
  bool waits(std::size_t owners) {
    return eventually([&] { return queue().size() == owners; }) &&
           raw.command("ZCARD", kDeadlines).integer == static_cast<long long>(owners);
  }
  long long deadline(const std::string& owner) { return std::stoll(raw.command("ZSCORE", kDeadlines, owner).text); }
  long long server_time() {
    const Reply time = raw.command("TIME");
    return std::stoll(time.elements[0].text) * 1000 + std::stoll(time.elements[1].text) / 1000;
  }
  std::string holder() {
    const auto fields = raw.hgetall("orders");
    return fields.empty() ? std::string() : fields.begin()->first;
  }
  /// As Redisson does it for one that waits.
  void queue_by_hand(const std::string& owner, milliseconds from_now) {
    raw.command("RPUSH", kQueue, owner);
    raw.command("ZADD", kDeadlines, server_time() + from_now.count(), owner);
  }
  static std::future<Hold> start(const Client& client, const AcquireOptions& options = {.wait = 30s}) {
    return in_thread([lock = client.fair_lock("orders"), options] { return lock.acquire(options); });
  }
  /// What waits for it, one after another: the owner that each of them turns out to be.
  std::deque<std::future<Hold>> start_in_order(const std::vector<const Client*>& clients) {
    std::deque<std::future<Hold>> waiting;
    const std::size_t before = queue().size();
    for (const Client* client : clients) {
      waiting.push_back(start(*client));
      EXPECT_TRUE(waits(before + waiting.size()));
    }
    return waiting;
  }
  static milliseconds since(steady_clock::time_point began) {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
  }
};

}  // namespace holdfast::test
