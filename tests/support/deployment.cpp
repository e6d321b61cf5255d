// SPDX-License-Identifier: Apache-2.0
#include "support/deployment.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "support/raw.hpp"
#include "support/wait.hpp"

namespace holdfast::test {
namespace {

using Listen = ServerOptions::Listen;

constexpr std::chrono::milliseconds kSentinelPatience = 2 * kBusyMachine;  // machines under load see failovers fail

void add(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The value of a field in a reply that lists names and values.
std::string field(const Reply& list, const std::string& name) {
  for (std::size_t i = 0; i + 1 < list.elements.size(); i += 2) {
    if (list.elements[i].text == name) return list.elements[i + 1].text;
  }
  return {};
}

/// "Not yet" as well if a server closes the connection meanwhile, as it does when Sentinels change its role.
template <class Check>
bool comes_true(const Check& check, std::chrono::milliseconds limit) {
  const auto is_true = [&check] {
    try {
      return check();
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  return eventually(is_true, limit);
}

bool is_primary(const RedisServer& server) { return ask(server).info("replication", "role") == "master"; }

bool follows(const RedisServer& replica, const RedisServer& primary) {
  Raw raw = ask(replica);
  return raw.info("replication", "master_port") == std::to_string(primary.port()) &&
         raw.info("replication", "master_link_status") == "up";
}

}  // namespace

Deployment::Deployment(DeploymentOptions options) : options_(std::move(options)) {
  if (options_.tls) certificates_ = Certificates::make(folder_.path() / "tls", "DNS:localhost,IP:127.0.0.1");
  std::ofstream(folder_.file("sentinel_password")) << options_.sentinel_password << "\n";
  for (std::size_t i = 0; i <= options_.replicas; ++i) {
    servers_.push_back(std::make_unique<RedisServer>(server_options(i)));
  }
  latest_ = servers_.front().get();
  const auto linked = [this] {
    return std::ranges::all_of(replicas(), [this](const RedisServer* each) { return follows(*each, *latest_); });
  };
  if (!comes_true(linked, kBusyMachine))
    throw std::runtime_error("the replicas do not reach the primary: " + latest_->log());
  for (std::size_t i = 0; i < options_.sentinels; ++i) {
    sentinels_.push_back(std::make_unique<RedisServer>(sentinel_options(i)));
    hurry(*sentinels_.back());
  }
  wait_until_settled();
}

ServerOptions Deployment::server_options(std::size_t index) const {
  ServerOptions server{.listen = options_.tls ? Listen::tls : Listen::tcp,
                       .password = options_.password,
                       .persistent = options_.persistent};
  if (options_.tls) {
    server.certificates = certificates_;
    server.config.emplace_back("tls-replication yes");
  }
  if (!options_.password.empty()) server.config.push_back("masterauth \"" + options_.password + "\"");
  if (index > 0) server.config.push_back("replicaof 127.0.0.1 " + std::to_string(servers_.front()->port()));
  if (index < options_.priorities.size()) {
    server.config.push_back("replica-priority " + std::to_string(options_.priorities[index]));
  }
  if (options_.min_replicas_to_write > 0) {
    server.config.push_back("min-replicas-to-write " + std::to_string(options_.min_replicas_to_write));
    server.config.emplace_back("min-replicas-max-lag 1");
  }
  add(server.config, options_.config);
  return server;
}

ServerOptions Deployment::sentinel_options(std::size_t) const {
  ServerOptions sentinel{.listen = options_.tls ? Listen::tls : Listen::tcp,
                         .password = options_.sentinel_password,
                         .users = options_.sentinel_users,
                         .sentinel = true};
  if (options_.tls) {
    sentinel.certificates = certificates_;
    sentinel.config.emplace_back("tls-replication yes");
  }
  const std::string& name = options_.name;
  sentinel.config.push_back("sentinel monitor " + name + " 127.0.0.1 " + std::to_string(servers_.front()->port()) +
                            " " + std::to_string(options_.sentinels / 2 + 1));
  sentinel.config.push_back("sentinel down-after-milliseconds " + name + " " +
                            std::to_string(options_.down_after.count()));
  sentinel.config.push_back("sentinel failover-timeout " + name + " " +
                            std::to_string(options_.failover_timeout.count()));
  sentinel.config.push_back("sentinel parallel-syncs " + name + " 8");
  if (!options_.password.empty()) sentinel.config.push_back("sentinel auth-pass " + name + " " + options_.password);
  if (!options_.sentinel_password.empty()) {
    sentinel.config.push_back("sentinel sentinel-pass " + options_.sentinel_password);
  }
  add(sentinel.config, options_.sentinel_config);
  return sentinel;
}

/// Refused by older servers, which then only are slower.
void Deployment::hurry(const RedisServer& sentinel) {
  ask(sentinel).command("SENTINEL", "DEBUG", "INFO-PERIOD", 200, "ASK-PERIOD", 100, "PUBLISH-PERIOD", 200,
                        "PING-PERIOD", 300, "TILT-TRIGGER", 60000);
}

std::string Deployment::url_of(const Servers& sentinels) const {
  std::string addresses;
  for (const auto& each : sentinels) addresses += (addresses.empty() ? "" : ",") + address(*each);
  return url_at(addresses);
}

std::string Deployment::url_at(const std::string& addresses) const {
  std::string url = options_.tls ? "rediss+sentinel://" : "redis+sentinel://";
  if (!options_.password.empty()) url += ":" + options_.password + "@";
  url += addresses + "/" + options_.name;
  char separator = '?';
  const auto parameter = [&](const std::string& name, const std::string& value) {
    url += std::exchange(separator, '&') + name + "=" + value;
  };
  if (options_.tls) parameter("ca_file", certificates_.ca_file);
  if (!options_.sentinel_password.empty()) parameter("sentinel_password_file", folder_.file("sentinel_password"));
  return url;
}

RedisServer* Deployment::announced_by(const RedisServer& sentinel) {
  const Reply reply = ask(sentinel).command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.name);
  if (reply.elements.size() != 2) return nullptr;
  for (const auto& each : servers_) {
    if (std::to_string(each->port()) == reply.elements[1].text) return each.get();
  }
  return nullptr;
}

RedisServer& Deployment::primary() {
  for (const auto& sentinel : sentinels_) {
    if (!sentinel->up()) continue;
    if (RedisServer* announced = announced_by(*sentinel)) latest_ = announced;
    break;
  }
  return *latest_;
}

std::vector<RedisServer*> Deployment::replicas() {
  const RedisServer& now = primary();
  std::vector<RedisServer*> others;
  for (const auto& each : servers_) {
    if (each.get() != &now) others.push_back(each.get());
  }
  return others;
}

bool Deployment::all_name(const RedisServer& server) {
  return std::ranges::all_of(
      sentinels_, [&](const auto& sentinel) { return !sentinel->up() || announced_by(*sentinel) == &server; });
}

/// Another one is the primary, and all know it.
bool Deployment::left(const RedisServer& old_primary) {
  const RedisServer& now = primary();
  return &now != &old_primary && now.up() && is_primary(now) && all_name(now);
}

void Deployment::failover() {
  const RedisServer& before = primary();
  const auto begun = [this] {
    for (const auto& sentinel : sentinels_) {
      if (sentinel->up()) return ask(*sentinel).command("SENTINEL", "FAILOVER", options_.name).text == "OK";
    }
    return false;
  };
  if (!comes_true(begun, kSentinelPatience)) throw std::runtime_error("no failover begins");
  // A Sentinel that finds no replica good enough at that moment gives up.
  const auto over = [&] {
    return comes_true([&] { return left(before); }, std::chrono::seconds(10)) || (begun(), false);
  };
  if (!comes_true(over, kSentinelPatience)) throw std::runtime_error("no failover: " + sentinels_.front()->log());
}

void Deployment::wait_for_failover_from(const RedisServer& old_primary) {
  if (!comes_true([&] { return left(old_primary); }, kSentinelPatience))
    throw std::runtime_error("no failover: " + sentinels_.front()->log());
}

void Deployment::wait_for_one_primary() {
  const auto one = [this] {
    return std::ranges::count_if(servers_, [](const auto& each) { return each->up() && is_primary(*each); }) == 1;
  };
  if (!comes_true(one, kSentinelPatience)) throw std::runtime_error("two primaries: " + sentinels_.front()->log());
}

void Deployment::wait_until_settled() {
  if (!comes_true([this] { return settled(); }, kSentinelPatience)) {
    throw std::runtime_error("the deployment does not settle: " + sentinels_.front()->log());
  }
}

bool Deployment::settled() {
  const RedisServer& now = primary();
  if (!is_primary(now) || !all_name(now)) return false;
  std::size_t linked = 0;
  for (const RedisServer* each : replicas()) {
    if (!each->up()) continue;
    if (!follows(*each, now)) return false;
    ++linked;
  }
  const auto agrees = [&](const RedisServer& sentinel) {
    const Reply replicas_seen = ask(sentinel).command("SENTINEL", "REPLICAS", options_.name);
    const auto well = std::ranges::count_if(replicas_seen.elements, [](const Reply& each) {
      return field(each, "flags") == "slave" && field(each, "master-link-status") == "ok";
    });
    const Reply others = ask(sentinel).command("SENTINEL", "SENTINELS", options_.name);
    return field(ask(sentinel).command("SENTINEL", "MASTER", options_.name), "flags") == "master" &&
           static_cast<std::size_t>(well) == linked && others.elements.size() + 1 == sentinels_.size();
  };
  return std::ranges::all_of(sentinels_, [&](const auto& each) { return !each->up() || agrees(*each); });
}

}  // namespace holdfast::test
