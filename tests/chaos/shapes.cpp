// SPDX-License-Identifier: Apache-2.0
#include "chaos/shapes.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "chaos/one_server.hpp"
#include "chaos/red_lock.hpp"
#include "chaos/replicated.hpp"
#include "interop/peer.hpp"
#include "support/paths.hpp"

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

const Peer& python() {
  static const Peer peer("holdfast-python");
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

/// Some of them, among many that are short.
Work kept_at_times(const std::string& name, const Words& more = {}) {
  return {name, Milliseconds(3), Milliseconds(5000), together({"long_ms=3500", "long_every=40"}, more)};
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
          .language = peer.id(),
          .ours = false,
          .records = records};
}

/// Of this library, through its package for Python, each in a process by itself: of the face that blocks, and of
/// asyncio.
std::vector<Member> in_python(const Words& settings, const std::vector<Work>& works) {
  if (!why_no_python().empty()) return {};
  std::vector<Member> both;
  for (const auto& [client, face] : {std::pair{"python", "hold"}, {"python-async", "async"}}) {
    both.push_back(ours(client, together({std::string("face=") + face, "kind=by_name"}, settings), works));
    both.back().program = python_program();
    both.back().language = "Python";
  }
  return both;
}

/// Those in Python do these as well.
void add_in_python(std::vector<Member>& crew, const std::vector<Work>& works) {
  for (Member& each : crew) {
    if (each.language == "Python") each.works.insert(each.works.end(), works.begin(), works.end());
  }
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
  std::ranges::move(in_python(extra, {hot(nth(hots, 0)), hot(nth(hots, 2), {"abandon_every=20"}), fixed(nth(fixeds, 1)),
                                      kept(nth(kepts, 1))}),
                    std::back_inserter(crew));
  if (ground.has_room_for_others() && redisson().why_not().empty()) {
    crew.push_back(of_peer(redisson(), {{nth(hots, 0), Milliseconds(1)}, {nth(kepts, 0), Milliseconds(50)}}, true));
  }
  return crew;
}

std::vector<Work> of_kind(const std::string& kind, std::vector<Work> works) {
  for (Work& each : works) each.kind = kind;
  return works;
}

/// One permit of three, which more want.
std::vector<Work> permits(const std::string& name) {
  const Words how{"permits=3"};
  std::vector<Work> works{hot(name, how), fixed(name, how), kept_at_times(name, how)};
  for (Work& each : works) each.permits = 3;
  return works;
}

/// One permit of three, which belongs to nobody. A few waits are given up.
std::vector<Work> plain_permits(const std::string& name) {
  std::vector<Work> works{hot(name, {"permits=3"}), hot(name, {"permits=3", "abandon_every=20"})};
  for (Work& each : works) {
    each.permits = 3;
    each.pause = Milliseconds(5);
  }
  return works;
}

/// A step of each latch of three, which another sets.
Work steps(const std::string& name, const Words& more = {}) {
  return {name, Milliseconds(20), Milliseconds(5000), together({"permits=3", "long_ms=300", "long_every=20"}, more)};
}

/// A candidate that stands again and again, and is asked to step down at times.
Work campaign(const std::string& name) {
  return {
      name, Milliseconds(5), Milliseconds(3000), {"campaigns=yes", "long_ms=30", "long_every=3", "abandon_every=3"}};
}

/// Two processes, each with threads that take a lock of each later kind. Those of a fair lock wait: who does not is
/// refused behind others although the lock is free, which no judge knows.
void add_later_kinds(Ground& ground, std::vector<Member>& crew) {
  std::vector<Work> works;
  std::size_t i = 0;
  // On another primary each time, where there are several.
  const auto name_of = [&](const std::string& kind) {
    const Words names = ground.names(kind + ".x");
    return names[i++ % names.size()];
  };
  const auto add = [&](const std::string& kind, std::vector<Work> of_one) {
    for (Work& each : of_kind(kind, std::move(of_one))) works.push_back(std::move(each));
  };
  const std::string fenced = name_of("fenced"), fair = name_of("fair"), read_write = name_of("read_write");
  const std::string leased = name_of("leased"), spin = name_of("spin"), leader = name_of("leader"),
                    readers = "read:" + read_write;
  const std::string one = name_of("any.one"), other = name_of("any.other"), any = one + "," + other;
  add("fenced", {hot(fenced), fixed(fenced), kept_at_times(fenced)});
  add("fair", {hot(fair), kept_at_times(fair)});
  add("spin", {hot(spin), fixed(spin), kept_at_times(spin)});
  add("read_write", {hot(read_write), fixed(read_write), hot(readers), fixed(readers), kept_at_times(readers)});
  add("leased", permits(leased));
  add("leader", {hot(leader), fixed(leader), kept_at_times(leader), campaign(leader)});
  add("any", {hot(any), fixed(any), kept_at_times(any), hot(one)});
  // Each round has a name of its own, in a cluster on any primary.
  add("semaphore", plain_permits("semaphore.x"));
  add("latch", {steps("latch.x")});
  add_in_python(crew, works);
  for (const char* const client : {"kinds-one", "kinds-other"}) {
    crew.push_back(ours(client, together({"face=hold", "kind=by_name"}, ground.settings()), works));
    works.push_back(of_kind("latch", {steps("latch.x", {"sets=yes"})}).front());
  }
}

std::vector<Member> everybody_and_later_kinds(Ground& ground) {
  std::vector<Member> crew = everybody(ground);
  add_later_kinds(ground, crew);
  return crew;
}

std::vector<Member> everybody_and_others(Ground& ground) {
  std::vector<Member> crew = everybody_and_later_kinds(ground);
  crew.push_back(ours("simple", {"face=hold", "kind=simple"},
                      of_kind("simple", {hot("simple"), fixed("simple"), unchecked(), unchecked()})));
  add_in_python(crew, of_kind("simple", {hot("simple"), fixed("simple")}));
  if (redis_py().why_not().empty()) {
    crew.push_back(of_peer(redis_py(), of_kind("simple", {{"simple", Milliseconds(2)}}), false));
  }
  return crew;
}

}  // namespace

std::string python_program() { return python().program(); }

std::string why_no_python() {
  const std::string library = source_path("build/libholdfast-c.so");
  const std::string why = python().why_not();
  return !why.empty() || std::filesystem::exists(library) ? why : "there is no " + library;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"one", [] { return std::make_unique<OneServer>(); }, everybody_and_others},
      {"tls", [] { return std::make_unique<OneServer>(ServerOptions::Listen::tls); }, everybody_and_later_kinds},
      {"redlock", [] { return std::make_unique<FiveServers>(); }, everybody},
      {"sentinel", [] { return std::make_unique<BehindSentinels>("none"); }, everybody_and_later_kinds},
      {"sentinel-acks", [] { return std::make_unique<BehindSentinels>("all"); }, everybody_and_later_kinds},
      {"cluster", [] { return std::make_unique<InCluster>("none"); }, everybody_and_later_kinds},
      {"cluster-acks", [] { return std::make_unique<InCluster>("all"); }, everybody_and_later_kinds},
  };
  return all;
}

std::vector<std::string> missing_peers() {
  std::vector<std::string> missing;
  for (const Peer* each : {&redisson(), &redis_py()}) {
    if (!each->why_not().empty()) missing.push_back(each->id() + ": " + each->why_not());
  }
  if (!why_no_python().empty()) missing.push_back("Python: " + why_no_python());
  return missing;
}

}  // namespace holdfast::test::chaos
