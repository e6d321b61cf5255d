// SPDX-License-Identifier: Apache-2.0
// Where the locks of a run are: model servers, and what befalls them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "sim/model/keyspace.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"

namespace holdfast::test {
class ModelServer;
}

namespace holdfast::test::sim {

class Servers {
 public:
  /// What ends a fault; empty: it has no end.
  using Heal = std::function<void()>;

  static std::unique_ptr<Servers> make(World& world, Network& network, const Plan& plan);

  Servers() = default;
  virtual ~Servers() = default;
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  /// What clients need to know; for servers that are independent, a client of each.
  virtual std::vector<Config> reached_by(const Config& settings) const = 0;
  /// Who has this key, by the word of those that decide.
  virtual std::vector<std::string> owners(const std::string& key) = 0;
  /// Who is in this queue of a fair lock.
  virtual std::vector<std::string> waiting(const std::string& queue) = 0;
  /// The keys of whoever decides about this one.
  virtual Keyspace& keyspace_of(const std::string& key) = 0;
  /// What is there at the beginning.
  virtual void put(const std::string& key, const std::string& text) = 0;
  /// Nothing keeps anybody from it.
  virtual bool is_free(const std::string& key) { return owners(key).empty(); }

  /// A fault that is Fault::of_server().
  virtual Heal strike(const Fault& fault) = 0;
  /// A process does not reach one of them.
  virtual Heal hide_from(Network&, const Process&, const Fault&) { return {}; }
  /// What an older state is, from now on.
  virtual void save() {}
  virtual void lose_all() = 0;
  /// From now on scripts do not do what they say.
  virtual void spoil(Sabotage) {}
  virtual void freeze() = 0;

 protected:
  /// One of them.
  static void spoil(ModelServer& server, Sabotage sabotage);
  /// Until nodes know each other.
  static constexpr base::Duration kBeginning = std::chrono::milliseconds(100);
};

}  // namespace holdfast::test::sim
