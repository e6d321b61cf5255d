// SPDX-License-Identifier: Apache-2.0
// What AnyLock promises to a crowd, on one server and in a cluster.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/client.hpp>

namespace holdfast::test {

/// A thread for each of these: each takes any one of the names, again and again. Nobody has the name of another, and
/// all names are in use at some time.
inline void expect_a_name_for_each(const std::vector<const Client*>& callers, const std::vector<std::string>& names,
                                   std::chrono::milliseconds wait) {
  std::mutex mutex;
  std::multiset<std::string> inside;
  std::size_t most = 0;
  std::atomic<bool> twice = false;
  const auto work = [&](const Client& client) {
    for (int round = 0; round < 20; ++round) {
      const Hold hold = client.any_lock(names).acquire({.wait = wait});
      {
        const std::lock_guard guard(mutex);
        inside.insert(hold.name());
        if (inside.count(hold.name()) > 1) twice = true;
        most = std::max(most, inside.size());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard guard(mutex);
      inside.erase(inside.find(hold.name()));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const Client* client : callers) threads.emplace_back([&work, client] { work(*client); });
  }
  EXPECT_FALSE(twice);
  EXPECT_EQ(most, names.size());
}

}  // namespace holdfast::test
