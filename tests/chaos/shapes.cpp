#include "chaos/shapes.hpp"

#include <utility>

#include "chaos/one_server.hpp"
#include "chaos/red_lock.hpp"
#include "chaos/replicated.hpp"
#include "interop/peer.hpp"

namespace holdfast::test::chaos {
namespace {

using Words = std::vector<std::string>;

const Peer& redisson() {
  static const Peer peer("redisson-4");
  return peer;
}

const Peer& redis_py() {
  static const Peer peer("redis-py");
  return peer;
}

Words together(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Short holds of a lock that all want, a few longer ones among them.
Work hot(const std::string& name, const Words& more = {}) {
  return {name, Milliseconds(0), Milliseconds(3000), together({"long_ms=30", "long_every=50"}, more)};
}

/// Leases that nobody renews: some end before they are given back.
Work fixed(const std::string& name, const Words& more = {}) {
  const Words how{"lease_ms=" + std::to_string(kLease.count()), "long_ms=3000", "long_every=30"};
  return {name, Milliseconds(3), Milliseconds(3000), together(how, more)};
}

/// Holds that are renewed, some beyond several renewals.
Work kept(const std::string& name) {
  return {name, Milliseconds(20), Milliseconds(5000), {"long_ms=3500", "long_every=4"}};
}

/// Writes that nobody checks beforehand, under leases that may be over by then.
Work unchecked() {
  return {"unchecked",
          Milliseconds(1),
          Milliseconds(3000),
          {"checks=no", "lease_ms=1000", "long_ms=2000", "long_every=40"}};
}

Member ours(const std::string& client, const Words& settings, std::vector<Work> works) {
  const Words all{"lease_ms=" + std::to_string(kLease.count()), "safety_poll_ms=1000", "command_timeout_ms=1500",
                  "release_timeout_ms=1000", "patience_ms=4000"};
  return {.client = client, .settings = together(all, settings), .works = std::move(works)};
}

Member of_peer(const Peer& peer, std::vector<Work> works, bool records) {
  Words settings{"lease_ms=" + std::to_string(kLease.count())};
  if (records) settings.emplace_back("command_timeout_ms=1500");
  return {.client = peer.id(),
          .program = peer.program(),
          .settings = std::move(settings),
          .works = std::move(works),
          .ours = false,
          .plain = records,
          .records = records};
}

/// A process of each kind. What the ground says goes to all of ours.
std::vector<Member> everybody(Ground& ground) {
  const Words hots = ground.names("hot"), fixeds = ground.names("fixed"), kepts = ground.names("kept");
  const auto nth = [](const Words& names, std::size_t i) { return names[i % names.size()]; };
  const Words extra = ground.settings();
  std::vector<Member> crew;
  const auto add = [&](const std::string& client, const Words& settings, std::vector<Work> works) {
    crew.push_back(ours(client, together(settings, extra), std::move(works)));
  };
  add("hold", {"face=hold"}, {hot(nth(hots, 0)), hot(nth(hots, 1)), fixed(nth(fixeds, 0)), kept(nth(kepts, 0))});
  add("std", {"face=std"}, {hot(nth(hots, 1)), hot(nth(hots, 2)), fixed(nth(fixeds, 1)), kept(nth(kepts, 0))});
  add("async", {"face=async"}, {hot(nth(hots, 2)), hot(nth(hots, 0)), fixed(nth(fixeds, 2)), kept(nth(kepts, 1))});
  Work tries = hot(nth(hots, 0));
  tries.wait = Milliseconds(0);
  add("no-handoff", {"face=hold", "handoff_ms=0"},
      {hot(nth(hots, 0)), hot(nth(hots, 1), {"abandon_every=20"}), std::move(tries), kept(nth(kepts, 1))});
  add("pipelined", {"face=hold", "pipelined_release=yes"},
      {hot(nth(hots, 1)), hot(nth(hots, 2)), fixed(nth(fixeds, 0))});
  if (ground.has_room_for_others() && redisson().why_not().empty()) {
    crew.push_back(of_peer(redisson(), {{nth(hots, 0), Milliseconds(1)}, {nth(kepts, 0), Milliseconds(50)}}, true));
  }
  return crew;
}

/// Two processes of each of the later kinds of one owner at a time. Those of a fair lock wait: who does not is refused
/// behind others although the lock is free, which no judge knows.
void add_later_kinds(std::vector<Member>& crew) {
  for (const std::string kind : {"fenced", "fair", "read_write"}) {
    for (const char* const which : {"-one", "-other"}) {
      crew.push_back(ours(kind + which, {"face=hold", "kind=" + kind}, {hot(kind), kept(kind)}));
      crew.back().plain = false;
    }
  }
}

std::vector<Member> everybody_and_others(Ground& ground) {
  std::vector<Member> crew = everybody(ground);
  crew.push_back(
      ours("simple", {"face=hold", "kind=simple"}, {hot("simple"), fixed("simple"), unchecked(), unchecked()}));
  crew.back().plain = false;
  add_later_kinds(crew);
  if (redis_py().why_not().empty()) crew.push_back(of_peer(redis_py(), {{"simple", Milliseconds(2)}}, false));
  return crew;
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"one", [] { return std::make_unique<OneServer>(); }, everybody_and_others},
      {"redlock", [] { return std::make_unique<FiveServers>(); }, everybody},
      {"sentinel", [] { return std::make_unique<BehindSentinels>("none"); }, everybody},
      {"sentinel-acks", [] { return std::make_unique<BehindSentinels>("all"); }, everybody},
      {"cluster", [] { return std::make_unique<InCluster>("none"); }, everybody},
      {"cluster-acks", [] { return std::make_unique<InCluster>("all"); }, everybody},
  };
  return all;
}

std::vector<std::string> missing_peers() {
  std::vector<std::string> missing;
  for (const Peer* each : {&redisson(), &redis_py()}) {
    if (!each->why_not().empty()) missing.push_back(each->id() + ": " + each->why_not());
  }
  return missing;
}

}  // namespace holdfast::test::chaos
