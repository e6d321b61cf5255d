// SPDX-License-Identifier: Apache-2.0
// The ground of random callers on a real server, behind a proxy that loses and delays answers.
#pragma once

#include <vector>

#include "answers/driver.hpp"
#include "support/proxy.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::answers {

class RealGround final : public Ground {
 public:
  RealGround(std::size_t clients, const Proxy::Weather& weather);
  ~RealGround() override;

  /// Until its driver is over, or `hangs` after something has no answer. Closes the clients then.
  void run(Driver& driver, base::Duration hangs, const std::function<void()>& every_second = {});
  /// A fault under which nothing is promised: a disagreement.
  void forget_all() { raw_.command("FLUSHALL"); }
  /// Connections that were ended with what was under way on them.
  std::size_t lost() const { return proxy_.fired(); }

  boost::asio::io_context& context() override { return context_; }
  std::size_t clients() const override { return clients_.size(); }
  const Client& client(std::size_t number) const override { return clients_[number]; }
  void after(std::chrono::microseconds time, std::function<void()> work) override;
  base::Duration left(const std::string& key) override;
  base::Duration permit_left(const std::string& key, const std::string& id) override;
  Permits permits(const std::string& key) override;
  bool has_field(const std::string& key, const std::string& field) override;
  std::optional<std::string> text(const std::string& key) override;
  void remove(const std::string& key) override { raw_.command("DEL", key); }

 private:
  std::int64_t now_of_server();

  RedisServer server_;
  Raw raw_{server_};
  Proxy proxy_;
  boost::asio::io_context context_{1};
  std::vector<Client> clients_;
};

}  // namespace holdfast::test::answers
