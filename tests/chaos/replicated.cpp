// SPDX-License-Identifier: Apache-2.0
#include "chaos/replicated.hpp"

#include <map>
#include <stdexcept>

#include "chaos/server_faults.hpp"
#include "support/raw.hpp"
#include "support/shared_clock.hpp"
#include "support/strike.hpp"

namespace holdfast::test::chaos {
namespace {

/// Replicas that hear nothing for this time before their primary is killed.
constexpr Milliseconds kCutOff{400};

void freeze_for(RedisServer& server, Milliseconds duration) {
  server.freeze();
  last(duration);
  server.thaw();
}

/// With its data, such as they are: a replica gets them again.
void kill_and_restart(RedisServer& server) {
  server.kill();
  last(Milliseconds(200));
  server.restart(Data::lose);
}

}  // namespace

std::vector<Fault> Replicated::of_any_server() {
  using enum Fault;
  std::vector<Fault> faults{
      process_killed, process_stopped, process_stopped_past_lease, clients_killed, scripts_flushed, flushed, forced};
  if (NetworkNamespace::why_not().empty()) {
    faults.insert(faults.end(), {links_cut, links_half_open, links_slow, requests_swallowed, replies_swallowed,
                                 reply_lost, request_late});
  }
  return faults;
}

std::vector<std::string> Replicated::left_out() const {
  const std::string why = NetworkNamespace::why_not();
  return why.empty() ? std::vector<std::string>{} : std::vector<std::string>{"links: " + why};
}

Access Replicated::access() {
  Access access{.url = url()};
  if (!NetworkNamespace::why_not().empty()) return access;
  networks_.push_back(std::make_unique<NetworkNamespace>());
  const NetworkNamespace& network = *networks_.back();
  for (const RedisServer* each : servers()) access.links.push_back(std::make_unique<Proxy>(*each, network));
  access.prefix = network.prefix();
  return access;
}

void Replicated::link_all_to(const RedisServer& server) {
  for (const auto& each : networks_) later_links_.push_back(std::make_unique<Proxy>(server, *each));
}

std::optional<Struck> Replicated::strike(const Planned& planned, const std::vector<Named>& names) {
  const std::string& name = names[planned.target % names.size()].name;
  if (planned.fault == Fault::forced) return force(url(), planned, names);
  Struck struck{.began = shared_clock()};
  if (!strike_servers(planned, name)) {
    Raw raw(primary_of(name));
    switch (planned.fault) {
      case Fault::clients_killed:
        raw.command("CLIENT", "KILL", "TYPE", planned.target % 2 == 0 ? "normal" : "pubsub");
        break;
      case Fault::scripts_flushed:
        raw.command("SCRIPT", "FLUSH");
        break;
      case Fault::flushed:
        raw.flushall();
        break;
      default:
        throw std::logic_error("no fault of a primary");
    }
  }
  struck.ended = shared_clock();
  unasked();  // what it has changed was asked for
  return struck;
}

BehindSentinels::BehindSentinels(const std::string& acks)
    : Replicated(acks),
      deployment_({.down_after = Milliseconds(1500)}),
      known_(&deployment_.primary()),
      known_at_(shared_clock()) {}

std::vector<Fault> BehindSentinels::faults() const {
  using enum Fault;
  std::vector<Fault> faults = of_any_server();
  faults.insert(faults.end(), {failed_over, primary_killed, primary_cut_off, primary_frozen, replica_killed,
                               replica_frozen, sentinel_killed});
  return faults;
}

bool BehindSentinels::strike_servers(const Planned& planned, const std::string&) {
  using enum Fault;
  static const std::map<Fault, test::Fault> kFailovers{{failed_over, test::Fault::forced},
                                                       {primary_killed, test::Fault::killed},
                                                       {primary_cut_off, test::Fault::cut_off}};
  if (const auto found = kFailovers.find(planned.fault); found != kFailovers.end()) {
    test::strike(deployment_, found->second, [] { last(kCutOff); });
    deployment_.wait_for_one_primary();
    return true;
  }
  if (planned.fault == sentinel_killed) {
    RedisServer& sentinel = deployment_.sentinel(planned.target % deployment_.sentinels());
    kill_and_restart(sentinel);
    Deployment::hurry(sentinel);
    return true;
  }
  if (planned.fault == primary_frozen) {
    deployment_.wait_until_settled();
    RedisServer& primary = deployment_.primary();
    primary.freeze();
    deployment_.wait_for_failover_from(primary);
    primary.thaw();
    deployment_.wait_for_one_primary();
    return true;
  }
  if (planned.fault != replica_killed && planned.fault != replica_frozen) return false;
  const std::vector<RedisServer*> replicas = deployment_.replicas();
  RedisServer& replica = *replicas[planned.target % replicas.size()];
  if (planned.fault == replica_frozen) {
    freeze_for(replica, planned.duration);
  } else {
    kill_and_restart(replica);
  }
  return true;
}

std::vector<const RedisServer*> BehindSentinels::servers() {
  std::vector<const RedisServer*> all;
  for (std::size_t i = 0; i < deployment_.servers(); ++i) all.push_back(&deployment_.server(i));
  for (std::size_t i = 0; i < deployment_.sentinels(); ++i) all.push_back(&deployment_.sentinel(i));
  return all;
}

bool BehindSentinels::taken(const std::string& name) { return Raw(deployment_.primary()).exists(name); }

std::optional<Struck> BehindSentinels::unasked() {
  const RedisServer* const now = &deployment_.primary();
  const Microseconds before = std::exchange(known_at_, shared_clock());
  if (std::exchange(known_, now) == now) return std::nullopt;
  return Struck{.began = before, .ended = known_at_};
}

InCluster::InCluster(const std::string& acks)
    : Replicated(acks), known_(cluster_.primaries()), known_at_(shared_clock()) {}

std::vector<Fault> InCluster::faults() const {
  using enum Fault;
  std::vector<Fault> faults = of_any_server();
  faults.insert(faults.end(), {failed_over, primary_killed, primary_cut_off, primary_frozen, replica_killed,
                               replica_frozen, taken_over, slots_moved, node_added});
  return faults;
}

bool InCluster::strike_servers(const Planned& planned, const std::string& name) {
  using enum Fault;
  static const std::map<Fault, test::Fault> kFaults{
      {failed_over, test::Fault::forced},      {primary_killed, test::Fault::killed},
      {primary_cut_off, test::Fault::cut_off}, {primary_frozen, test::Fault::frozen},
      {taken_over, test::Fault::takeover},     {slots_moved, test::Fault::resharded}};
  if (const auto found = kFaults.find(planned.fault); found != kFaults.end()) {
    test::strike(cluster_, found->second, name, [] { last(kCutOff); });
    cluster_.wait_for_one_primary(cluster_.slot_of(name));
    return true;
  }
  if (planned.fault == node_added) {
    add_and_remove_node(name);
    return true;
  }
  if (planned.fault != replica_killed && planned.fault != replica_frozen) return false;
  const std::vector<RedisServer*> replicas = cluster_.replicas_of(primary_of(name));
  if (replicas.empty()) throw std::runtime_error("that primary has no replica now");
  if (planned.fault == replica_frozen) {
    freeze_for(*replicas.front(), planned.duration);
  } else {
    kill_and_restart(*replicas.front());
  }
  return true;
}

/// It serves the lock's slot for a while.
void InCluster::add_and_remove_node(const std::string& name) {
  cluster_.wait_until_settled();
  const int slot = cluster_.slot_of(name);
  RedisServer& primary = cluster_.primary_of(slot);
  RedisServer& added = cluster_.add_node();
  link_all_to(added);
  cluster_.move_slots(slot, slot, added);
  cluster_.move_slots(slot, slot, primary);
  cluster_.wait_until_settled();
  cluster_.remove_node(added);
}

std::vector<const RedisServer*> InCluster::servers() {
  std::vector<const RedisServer*> all;
  for (std::size_t i = 0; i < cluster_.nodes(); ++i) all.push_back(&cluster_.node(i));
  return all;
}

bool InCluster::taken(const std::string& name) { return Raw(primary_of(name)).exists(name); }

std::optional<Struck> InCluster::unasked() {
  std::vector<RedisServer*> now = cluster_.primaries();
  const Microseconds before = std::exchange(known_at_, shared_clock());
  if (now == known_) return std::nullopt;
  known_ = std::move(now);
  return Struck{.began = before, .ended = known_at_};
}

}  // namespace holdfast::test::chaos
