// SPDX-License-Identifier: Apache-2.0
// Sends the questions of a probe to the nodes, each on a connection of its own, and has the answers judged.
#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/probe.hpp>

#include "base/clock.hpp"
#include "base/location.hpp"
#include "face/inquiry/inquiry.hpp"
#include "probe/judge.hpp"
#include "probe/questions.hpp"
#include "probe/reading.hpp"

namespace holdfast {
namespace {

using base::TimePoint;
using probing::NodeFacts;
using probing::text_of;
using Part = ProbedNode::Part;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// For one question, including connecting to the node.
constexpr milliseconds kServerQuestion{2000};
constexpr milliseconds kNodeQuestion{1000};
/// No question starts later than this, so that the probe ends within ten seconds unless the machine hangs.
constexpr milliseconds kServerEnd{6000};
constexpr milliseconds kNodesEnd{8500};
/// For replicas and Sentinels; the rest is skipped.
constexpr std::size_t kMostProbedNodes = 16;
/// Of a cluster's nodes, primaries first.
constexpr std::size_t kMostProbedClusterNodes = 64;
constexpr milliseconds kMeasuring{1000};
constexpr std::size_t kPings = 100;
constexpr std::size_t kTimes = 5;
/// A node that leaves this many questions unanswered is not asked any more.
constexpr int kMostSilences = 2;

std::string in_words(const Error& error) {
  return error.code().message() + (error.cause().empty() ? "" : ": " + error.cause());
}

/// What all answers of one probe may come to: whatever nodes there are, they are kept until all have answered.
class Room {
 public:
  void take(const std::vector<base::Reply>& replies) {
    std::size_t bytes = 0;
    for (const base::Reply& each : replies) bytes += bytes_of(each);
    if (taken_.fetch_add(bytes) + bytes > kMostKept)
      throw std::runtime_error("too much, with the nodes' other answers");
  }

 private:
  static constexpr std::size_t kMostKept = 64U << 20U;
  static std::size_t bytes_of(const base::Reply& reply) {
    std::size_t bytes = sizeof reply + reply.text.size();
    for (const base::Reply& each : reply.elements) bytes += bytes_of(each);
    return bytes;
  }

  std::atomic<std::size_t> taken_{0};
};

/// Queries one node, on a connection of its own, so that a proxy or server that mishandles an odd command harms no
/// lock.
class Interview {
 public:
  Interview(Config config, NodeFacts facts, const probing::Settings& settings, TimePoint end, Room& room)
      : config_(std::move(config)), settings_(settings), end_(end), room_(room), facts_(std::move(facts)) {}

  NodeFacts hold() {
    facts_.user = config_.username.empty() ? "default" : config_.username;
    try {
      inquiry_.emplace(std::move(config_));
      ask({probing::ask_ping()});
      put_questions();
    } catch (const Error& error) {
      facts_.trouble = static_cast<Errc>(error.code().value());
      facts_.problem = in_words(error);
    }
    inquiry_.reset();
    return std::move(facts_);
  }

 private:
  std::vector<base::Reply> ask(std::vector<base::Command> commands) { return inquiry_->ask(std::move(commands)); }

  /// Runs a step; if it gets no answer, notes that.
  template <class Step>
  void attempt(const std::string& question, Step step) {
    if (silences_ >= kMostSilences || base::Clock::now() >= end_) {
      facts_.refused[question] = silences_ >= kMostSilences ? "not asked, since it had fallen silent" : "out of time";
      return;
    }
    try {
      step();
    } catch (const Error& error) {
      if (silences_++ == 0) facts_.silent_at = question;
      facts_.refused[question] = in_words(error);
    } catch (const std::exception& error) {
      facts_.refused[question] = std::string("a reply that makes no sense: ") + error.what();
    }
  }

  void put_questions() {
    const bool is_sentinel = facts_.part == Part::sentinel;
    const auto questions = is_sentinel ? probing::questions_for_sentinel() : probing::questions_for_server();
    for (const probing::Question& question : questions) {
      std::vector<base::Command> commands = question.commands(facts_, settings_);
      if (commands.empty()) continue;
      attempt(std::string(question.name), [&] {
        const std::vector<base::Reply> replies = ask(std::move(commands));
        room_.take(replies);
        question.read(facts_, replies);
      });
    }
    if (is_sentinel) return;
    attempt("TIME", [this] { compare_clocks(); });
    attempt("PING", [this] { measure_round_trips(); });
    if (facts_.part == Part::server) attempt("SCAN", [this] { walk_keys(); });
  }

  void compare_clocks() {
    for (std::size_t i = 0; i < kTimes; ++i) {
      const TimePoint begin = base::Clock::now();
      const auto wall = std::chrono::system_clock::now();
      const base::Reply reply = ask({probing::ask_time()}).front();
      const base::Duration half = (base::Clock::now() - begin) / 2;
      const auto server = probing::read_time(reply);
      if (!server) return;
      const auto error = std::chrono::ceil<microseconds>(half);
      if (facts_.clock && facts_.clock->error <= error) continue;
      const auto here = std::chrono::duration_cast<microseconds>(wall.time_since_epoch() + half);
      facts_.clock = probing::ClockReading{*server - here, error};
    }
  }

  void measure_round_trips() {
    const TimePoint end = base::Clock::now() + kMeasuring;
    std::vector<microseconds> round_trips;
    while (round_trips.size() < kPings && (round_trips.empty() || base::Clock::now() < end)) {
      const TimePoint begin = base::Clock::now();
      ask({probing::ask_ping()});
      round_trips.push_back(std::chrono::duration_cast<microseconds>(base::Clock::now() - begin));
    }
    facts_.round_trips = probing::summarize(std::move(round_trips));
  }

  void walk_keys() {
    const TimePoint end = std::min(end_, base::Clock::now() + kMeasuring);
    probing::KeyWalk walk(settings_.name_prefix);
    while (walk.on_replies(ask(walk.commands())) && base::Clock::now() < end) {
    }
    facts_.keys = walk.seen();
    if (walk.refused().empty()) return;
    facts_.refused["SCAN"] = walk.refused();
    facts_.keys.reset();
  }

  Config config_;
  const probing::Settings& settings_;
  const TimePoint end_;
  Room& room_;
  NodeFacts facts_;
  std::optional<detail::Inquiry> inquiry_;
  int silences_ = 0;
};

probing::Settings settings_of(const Config& config, std::string_view lock) {
  const bool by_socket = !base::socket_of(config).empty();
  const SentinelConfig* const sentinels = base::sentinels_of(config);
  const std::vector<NodeAddress> addresses = base::addresses_of(config);
  return {.unix_socket = by_socket,
          .tls = config.tls.enabled && !by_socket,
          .verifies = config.tls.verify != TlsConfig::Verify::none,
          .verifies_host = config.tls.verify == TlsConfig::Verify::full,
          .host = addresses.empty() ? std::string() : addresses.front().host,
          .password = !config.password.empty() || config.credentials,
          .name_prefix = config.name_prefix,
          .lock = std::string(lock),
          .lease = config.lease,
          .acks = config.acks,
          .loss_notice = config.loss_notice,
          .sentinel_primary = sentinels ? sentinels->primary : std::string(),
          .cluster = base::cluster_of(config) != nullptr};
}

/// A client's settings, changed for one that only sends queries.
Config asking(const Config& config, milliseconds limit) {
  Config asking = config;
  asking.observer = nullptr;
  asking.acks = {};
  asking.loss_notice = false;
  asking.timing.connect_timeout = std::min(config.timing.connect_timeout, limit);
  asking.timing.command_timeout = std::min(config.timing.command_timeout, limit);
  return asking;
}

Config asking(const Config& config, const NodeAddress& address) {
  Config node = asking(config, kNodeQuestion);
  node.server = address;
  return node;
}

/// The other nodes to query: each address once.
class OtherNodes {
 public:
  OtherNodes(const Config& config, const probing::Settings& settings, TimePoint end, Room& room,
             std::size_t most = kMostProbedNodes)
      : config_(config), settings_(settings), end_(end), room_(room), most_(most) {}

  void add(Part part, NodeAddress address) {
    if (address.host.empty() || address.port == 0 || !seen_.insert({address.host, address.port}).second) return;
    if (taken_ == most_) {
      ++left_out_;
      return;
    }
    ++taken_;
    next_.emplace_back(part, std::move(address));
  }

  /// Queries those added since the last call, all at the same time.
  std::vector<NodeFacts> ask() {
    std::vector<std::future<NodeFacts>> asked;
    for (auto& [part, address] : next_) {
      Config config = asking(config_, address);
      if (part == Part::sentinel) config = asking(base::at_sentinel(config_, address), address);
      NodeFacts facts;
      facts.part = part;
      facts.address = probing::host_port(address.host, address.port);
      asked.push_back(std::async(std::launch::async, [this, config, facts] {
        return Interview(config, facts, settings_, end_, room_).hold();
      }));
    }
    next_.clear();
    std::vector<NodeFacts> nodes;
    for (auto& each : asked) nodes.push_back(each.get());
    return nodes;
  }

  std::size_t left_out() const { return left_out_; }

 private:
  const Config& config_;
  const probing::Settings& settings_;
  const TimePoint end_;
  Room& room_;
  const std::size_t most_;
  std::set<std::pair<std::string, std::uint16_t>> seen_;
  std::vector<std::pair<Part, NodeAddress>> next_;
  std::size_t taken_ = 0;
  std::size_t left_out_ = 0;
};

/// Skips nodes that are already in the list under another address.
void append(std::vector<NodeFacts>& nodes, std::vector<NodeFacts> more) {
  for (NodeFacts& node : more) {
    const std::string run_id(text_of(node.info, "run_id"));
    const bool known = std::ranges::any_of(
        nodes, [&](const NodeFacts& each) { return !run_id.empty() && text_of(each.info, "run_id") == run_id; });
    if (!known) nodes.push_back(std::move(node));
  }
}

probing::ClusterMembers members_told_by(const Config& config, const NodeAddress& seed) {
  const base::Reply reply = detail::Inquiry(asking(config, seed)).ask({probing::ask_members()}).front();
  if (reply.is_error()) throw Error(Errc::server_error, {}, {}, probing::in_words(reply.text));
  return probing::read_members(reply, seed);
}

/// From the first node of the URL that gives a map. The silent ones are noted.
probing::ClusterMembers find_members(const Config& config, TimePoint end, std::vector<std::string>& silent) {
  for (const NodeAddress& seed : base::cluster_of(config)->addresses) {
    if (base::Clock::now() >= end) break;
    std::string problem = "it knows of no slots that are served";
    try {
      probing::ClusterMembers members = members_told_by(config, seed);
      if (!members.primaries.empty()) return members;
    } catch (const Error& error) {
      problem = in_words(error);
    }
    silent.push_back(probing::host_port(seed.host, seed.port) + ": " + problem);
  }
  return {};
}

probing::Facts facts_of_cluster(const Config& config, std::string_view lock, TimePoint begin) {
  probing::Facts facts{settings_of(config, lock), {}};
  probing::ClusterMembers members = find_members(config, begin + kServerEnd, facts.silent_seeds);
  if (members.primaries.empty()) members.primaries.push_back(base::cluster_of(config)->addresses.front());
  Room room;
  OtherNodes nodes(config, facts.settings, begin + kNodesEnd, room, kMostProbedClusterNodes);
  for (const NodeAddress& each : members.primaries) nodes.add(Part::server, each);
  for (const NodeAddress& each : members.replicas) nodes.add(Part::replica, each);
  append(facts.nodes, nodes.ask());
  // One that answers comes first, as the client's server does.
  const auto serves = [](const NodeFacts& node) { return node.part == Part::server && node.answered(); };
  if (const auto one = std::ranges::find_if(facts.nodes, serves); one != facts.nodes.end()) {
    std::rotate(facts.nodes.begin(), one, one + 1);
  }
  for (const NodeFacts& node : facts.nodes) {
    if (!node.cluster) continue;
    for (const NodeAddress& each : probing::replicas_in(node.cluster->nodes)) nodes.add(Part::replica, each);
  }
  append(facts.nodes, nodes.ask());
  facts.left_out = nodes.left_out();
  return facts;
}

}  // namespace

ProbeReport probe(const Client& client, std::string_view lock) {
  const TimePoint begin = base::Clock::now();
  const Config& config = detail::settings_of(client);
  if (base::cluster_of(config)) return probing::judge(facts_of_cluster(config, lock, begin));
  probing::Facts facts{settings_of(config, lock), {}};
  NodeFacts server;
  server.address = config.node();
  Room room;
  facts.nodes.push_back(
      Interview(asking(config, kServerQuestion), std::move(server), facts.settings, begin + kServerEnd, room).hold());

  OtherNodes others(config, facts.settings, begin + kNodesEnd, room);
  const probing::Role role = facts.nodes.front().role;
  for (const probing::ReplicaSeen& replica : role.replicas) others.add(Part::replica, {replica.host, replica.port});
  others.add(Part::replica, {role.primary_host, role.primary_port});
  const std::vector<NodeAddress> addresses = base::addresses_of(config);
  for (std::size_t i = 1; i < addresses.size(); ++i) others.add(Part::replica, addresses[i]);
  if (const SentinelConfig* const sentinels = base::sentinels_of(config)) {
    for (const NodeAddress& address : sentinels->addresses) others.add(Part::sentinel, address);
  }
  append(facts.nodes, others.ask());

  // The further nodes that the Sentinels know; if the server is down, only they know its replicas.
  const auto add = [&](Part part, const probing::Fields& fields) {
    others.add(part, {std::string(text_of(fields, "ip")), probing::to_port(text_of(fields, "port"))});
  };
  for (const NodeFacts& node : facts.nodes) {
    if (!node.sentinel) continue;
    if (!facts.nodes.front().answered()) {
      for (const probing::Fields& replica : node.sentinel->replicas) add(Part::replica, replica);
    }
    for (const probing::Fields& each : node.sentinel->others) {
      const auto is_this = [&](const NodeFacts& known) {
        return text_of(known.info, "run_id") == text_of(each, "runid");
      };
      if (std::ranges::any_of(facts.nodes, is_this)) continue;
      add(Part::sentinel, each);
    }
  }
  append(facts.nodes, others.ask());
  facts.left_out = others.left_out();
  return probing::judge(facts);
}

}  // namespace holdfast
