// SPDX-License-Identifier: Apache-2.0
#include "sim/servers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kinds/scripts.hpp"
#include "sim/cluster_servers.hpp"
#include "sim/model/model_deployment.hpp"
#include "sim/model/model_server.hpp"

namespace holdfast::test::sim {
namespace {

namespace scripts = wire::scripts;
using Kind = Fault::Kind;
using Restored = ModelServer::Restored;
using Heal = Servers::Heal;

const std::vector<std::vector<const char*>> kPermissions = {
    {"evalsha", "eval"}, {"subscribe"}, {"publish"}, {"client"}, {"script"}};
const std::vector<const char*> kErrors = {
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "NOAUTH Authentication required.", "MISCONF Redis is configured to save RDB snapshots, but it cannot"};

template <class Each>
const Each& one_of(const std::vector<Each>& all, int which) {
  return all[static_cast<std::size_t>(which) % all.size()];
}

Heal withdraw(ModelServer& server, const std::vector<const char*>& commands) {
  for (const char* const command : commands) server.forbid(command);
  return [&server, &commands] {
    for (const char* const command : commands) server.allow(command);
  };
}

// ---- scripts that do not do what they say ----

void carry_out(const base::Script& script, ScriptHost& host, Args keys, Args args, std::string& reply) {
  script_of_sha1(script.sha1)->run(host, keys, args, reply);
}

void read_anyway(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (host.keyspace().find(keys[0]) != nullptr) host.keyspace().set_field(keys[0], "mode", "read");
  carry_out(scripts::read_write_acquire_read, host, keys, args, reply);
}

void jump_the_queue(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const bool is_free = host.keyspace().find(keys[0]) == nullptr;
  return carry_out(is_free ? scripts::lock_acquire : scripts::fair_acquire, host, is_free ? keys.first(1) : keys,
                   is_free ? args.first(2) : args, reply);
}

void keep_the_token(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const std::string* const before = keys.size() > 1 ? host.keyspace().text(keys[1]) : nullptr;
  if (before != nullptr && *before == "2") host.keyspace().set(keys[1], "1");
  carry_out(scripts::lock_acquire, host, keys, args, reply);
}

void take_beside_another(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const auto taken = [&host](std::string_view key) { return host.keyspace().find(key) != nullptr; };
  if (std::ranges::all_of(keys, taken)) host.keyspace().erase(keys[0]);
  carry_out(scripts::lock_acquire_any, host, keys, args, reply);
}

void take_the_first(ScriptHost& host, Args keys, Args args, std::string& reply) {
  carry_out(scripts::lock_acquire_any, host, keys.first(1), args, reply);
}

void give_what_is_not_there(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const std::string* const there = host.keyspace().text(keys[0]);
  if (there != nullptr && *there == "0") host.keyspace().increment(keys[0]);
  carry_out(scripts::permits_acquire, host, keys, args, reply);
}

void swallow_a_permit(ScriptHost& host, Args keys, Args args, std::string& reply) {
  carry_out(scripts::permits_release, host, keys, args, reply);
  if (reply != "_\r\n") host.keyspace().increment(keys[0], -1);
}

/// It comes as if for the first time.
template <const base::Script& kScript>
void count_again(ScriptHost& host, Args keys, Args args, std::string& reply) {
  carry_out(kScript, host, keys.size() == 2 ? keys.first(1) : keys, args, reply);
}

struct Spoiled {
  Sabotage sabotage;
  const base::Script& script;
  Transition instead;
};
const Spoiled kSpoiled[] = {
    {Sabotage::reader_beside_writer, scripts::read_write_acquire_read, read_anyway},
    {Sabotage::queue_jumped, scripts::fair_acquire, jump_the_queue},
    {Sabotage::token_stands_still, scripts::lock_acquire, keep_the_token},
    {Sabotage::any_beside_another, scripts::lock_acquire_any, take_beside_another},
    {Sabotage::any_of_the_first, scripts::lock_acquire_any, take_the_first},
    {Sabotage::permit_beyond, scripts::permits_acquire, give_what_is_not_there},
    {Sabotage::permit_swallowed, scripts::permits_release, swallow_a_permit},
    {Sabotage::acquire_counts_again, scripts::semaphore_acquire, count_again<scripts::semaphore_acquire>},
    {Sabotage::release_counts_again, scripts::semaphore_release, count_again<scripts::semaphore_release>},
    {Sabotage::step_counts_again, scripts::latch_count_down, count_again<scripts::latch_count_down>},
};

void put_at(ModelServer& server, const std::string& key, const std::string& text) {
  server.change([&](Keyspace& keys) { keys.set(key, text); });
}

/// What can happen to a server that nobody replaces.
Heal strike(ModelServer& server, const Fault& fault) {
  const auto away = [&server](Restored data) {
    server.die();
    return [&server, data] { server.restart(data); };
  };
  switch (fault.kind) {
    case Kind::freeze:
      server.freeze();
      return [&server] { server.thaw(); };
    case Kind::restart:
      return away(Restored::kept);
    case Kind::lose_data:
      return away(Restored::lost);
    case Kind::older_data:
      return away(Restored::older);
    case Kind::forget_scripts:
      server.forget_scripts();
      return {};
    case Kind::slow_server:
      server.set_latency(fault.amount);
      return [&server] { server.set_latency({}); };
    case Kind::full_memory:
      server.fill_memory(true);
      return [&server] { server.fill_memory(false); };
    case Kind::withdraw:
      return withdraw(server, one_of(kPermissions, fault.which));
    case Kind::answer_errors:
      server.answer_with(one_of(kErrors, fault.which));
      return [&server] { server.answer_with(""); };
    case Kind::clock_back:
      server.move_clock(-fault.amount);
      return {};
    case Kind::clock_ahead:
      server.move_clock(fault.amount);
      return {};
    case Kind::flush:
      server.lose_all();
      return {};
    default:
      return {};
  }
}

class OneServer final : public Servers {
 public:
  OneServer(World& world, Network& network) : server_(world) { network.add(server_); }

  std::vector<Config> reached_by(const Config& settings) const override {
    std::vector<Config> configs(1, settings);
    configs[0].server = NodeAddress{server_.place().host};
    return configs;
  }
  std::vector<std::string> owners(const std::string& key) override { return server_.owners(key); }
  std::vector<std::string> waiting(const std::string& queue) override { return server_.waiting(queue); }
  Keyspace& keyspace_of(const std::string&) override { return server_.keyspace_now(); }
  void put(const std::string& key, const std::string& text) override { put_at(server_, key, text); }
  Heal strike(const Fault& fault) override { return sim::strike(server_, fault); }
  void save() override { server_.save(); }
  void lose_all() override { server_.lose_all(); }
  void freeze() override { server_.freeze(); }
  void spoil(Sabotage sabotage) override { Servers::spoil(server_, sabotage); }

 private:
  ModelServer server_;
};

/// Of which a majority decides, or all.
class Independent final : public Servers {
 public:
  Independent(World& world, Network& network, const Plan& plan)
      : needed_(static_cast<std::size_t>(plan.needs_all ? plan.servers : plan.servers / 2 + 1)) {
    for (int i = 0; i < plan.servers; ++i) {
      ServerSettings settings;
      settings.place.host = Network::host(static_cast<std::size_t>(i));
      servers_.push_back(std::make_unique<ModelServer>(world, settings));
      network.add(*servers_.back());
    }
  }

  std::vector<Config> reached_by(const Config& settings) const override {
    std::vector<Config> configs(servers_.size(), settings);
    for (std::size_t i = 0; i < servers_.size(); ++i) configs[i].server = NodeAddress{servers_[i]->place().host};
    return configs;
  }
  std::vector<std::string> waiting(const std::string&) override { return {}; }
  Keyspace& keyspace_of(const std::string&) override { return servers_.front()->keyspace_now(); }
  void put(const std::string& key, const std::string& text) override {
    for (const auto& server : servers_) put_at(*server, key, text);
  }
  std::vector<std::string> owners(const std::string& key) override {
    std::map<std::string, std::size_t> votes;
    for (const auto& server : servers_) {
      for (const std::string& owner : server->owners(key)) ++votes[owner];
    }
    std::vector<std::string> owners;
    for (const auto& [owner, count] : votes) {
      if (count >= needed_) owners.push_back(owner);
    }
    return owners;
  }
  bool is_free(const std::string& key) override {
    return std::ranges::all_of(servers_, [&key](const auto& server) { return server->owners(key).empty(); });
  }
  Heal strike(const Fault& fault) override {
    return sim::strike(*servers_[static_cast<std::size_t>(fault.which) % servers_.size()], fault);
  }
  Heal hide_from(Network& network, const Process& process, const Fault& fault) override {
    const Place& place = servers_[static_cast<std::size_t>(fault.which) % servers_.size()]->place();
    network.hide(process, place, true);
    return [&network, &process, place] { network.hide(process, place, false); };
  }
  void save() override {
    for (const auto& server : servers_) server->save();
  }
  void lose_all() override {
    for (const auto& server : servers_) server->lose_all();
  }
  void freeze() override {
    for (const auto& server : servers_) server->freeze();
  }

 private:
  const std::size_t needed_;
  std::vector<std::unique_ptr<ModelServer>> servers_;
};

class Deployed final : public Servers {
 public:
  Deployed(World& world, Network& network) : deployment_(world) {
    for (ModelNode* const node : deployment_.nodes()) network.add(*node);
    world.run(kBeginning);
  }

  std::vector<Config> reached_by(const Config& settings) const override {
    std::vector<Config> configs(1, settings);
    const DeploymentSettings known;
    SentinelConfig& sentinels = configs[0].server.emplace<SentinelConfig>();
    sentinels.primary = known.name;
    for (std::size_t i = 0; i < known.sentinels; ++i) {
      sentinels.addresses.push_back({Network::host(1 + known.replicas + i), 26379});
    }
    return configs;
  }
  std::vector<std::string> owners(const std::string& key) override { return primary().owners(key); }
  std::vector<std::string> waiting(const std::string& queue) override { return primary().waiting(queue); }
  Keyspace& keyspace_of(const std::string&) override { return primary().keyspace_now(); }
  void put(const std::string& key, const std::string& text) override { put_at(primary(), key, text); }
  Heal strike(const Fault& fault) override {
    const std::size_t primary = deployment_.primary();
    const std::size_t replica = (primary + 1) % deployment_.size();
    switch (fault.kind) {
      case Kind::kill_primary:
        deployment_.kill(primary);
        return [this, primary] { deployment_.restart(primary, Restored::kept); };
      case Kind::freeze_primary:
        deployment_.freeze(primary);
        return [this, primary] { deployment_.thaw(primary); };
      case Kind::cut_replica:
        deployment_.cut(replica, true);
        return [this, replica] { deployment_.cut(replica, false); };
      case Kind::fail_over:
        deployment_.fail_over();
        return {};
      default:
        return sim::strike(this->primary(), fault);
    }
  }
  void lose_all() override { primary().lose_all(); }
  void freeze() override { primary().freeze(); }

 private:
  ModelServer& primary() { return deployment_.server(deployment_.primary()); }

  ModelDeployment deployment_;
};

}  // namespace

void Servers::spoil(ModelServer& server, Sabotage sabotage) {
  for (const Spoiled& each : kSpoiled) {
    if (each.sabotage == sabotage) server.plant(each.script, each.instead);
  }
}

std::unique_ptr<Servers> Servers::make(World& world, Network& network, const Plan& plan) {
  switch (plan.site) {
    case Site::sentinels:
      return std::make_unique<Deployed>(world, network);
    case Site::cluster:
      return std::make_unique<ClusterServers>(world, network, plan);
    case Site::independent:
      return std::make_unique<Independent>(world, network, plan);
    case Site::server:
      break;
  }
  return std::make_unique<OneServer>(world, network);
}

}  // namespace holdfast::test::sim
