// SPDX-License-Identifier: Apache-2.0
// Locks on several servers, or of several names.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "counting.hpp"

namespace holdfast::test {

class SeveralLocks : public Counting {
 protected:
  SeveralLocks() { set("lease_ms", 30s); }

  /// Makes the clients connect to `server` and so many more.
  void use_servers(std::size_t count) {
    std::string urls = server.url();
    while (more_servers_.size() + 1 < count) {
      more_servers_.emplace_back(ServerOptions{.listen = ServerOptions::Listen::tcp});
      urls += "," + more_servers_.back().url();
    }
    set_url(urls);
  }
  RedisServer& server_at(std::size_t i) { return i == 0 ? server : more_servers_[i - 1]; }
  /// On how many servers somebody has this lock.
  std::size_t servers_with(const std::string& name) {
    std::size_t count = 0;
    for (std::size_t i = 0; i <= more_servers_.size(); ++i) count += Raw(server_at(i)).exists(name) ? 1 : 0;
    return count;
  }

  void expect_exclusion_of_each_other(const std::string& name) {
    holder().lock(name);
    EXPECT_TRUE(holder().is_mine(name));
    EXPECT_FALSE(other().try_lock(name));
    EXPECT_FALSE(other().is_mine(name));
    EXPECT_EQ(holder().unlock(name), "released");
    EXPECT_TRUE(other().try_lock(name, kPrompt));
    EXPECT_FALSE(holder().try_lock(name));
    EXPECT_EQ(other().unlock(name), "released");
  }

  /// A process of each side, under the names that it is told.
  std::vector<Worker> one_process_each(const std::string& of_first, const std::string& of_second) {
    return {{first_side(), holder(), of_first}, {second_side(), other(), of_second}};
  }

 private:
  std::deque<RedisServer> more_servers_;
};

}  // namespace holdfast::test
