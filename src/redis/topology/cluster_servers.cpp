// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/cluster_servers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <holdfast/error.hpp>

#include "base/entropy.hpp"
#include "redis/connection/op.hpp"
#include "redis/decide/errors.hpp"
#include "redis/decide/redirect.hpp"

namespace holdfast::redis {
namespace {

using base::Clock;
using cluster::Redirect;

/// A request whose commands are answered by several nodes.
struct Gathered {
  Result result;
  ResultHandler handler;
  std::size_t missing = 0;
};

/// Replaces a missing reply. Only commands that are safe to resend are sent together with others.
base::Reply no_reply(const Result& result) {
  const std::string& why = result.cause.empty() ? result.error.message() : result.cause;
  return {base::Reply::Kind::error, 0, "TRYAGAIN the node that serves it now has not answered: " + why, {}};
}

base::Duration pause_before(int detour) {
  const int doublings = std::min(detour - Detours::kAtOnce - 1, 10);
  return std::min<base::Duration>(Detours::kFirstPause * (1 << doublings), Detours::kLongestPause);
}

bool goes_on(const base::Command& command, const base::Reply& reply, const NodeAddress& asked) {
  return reply.is_error() &&
         (cluster::are_apart(command, reply) || cluster::read_redirect(reply.text, asked).has_value());
}

}  // namespace

Detours::Detours(timing::Schedule& schedule, Ways ways)
    : ways_(std::move(ways)), alarm_(schedule, [this] { on_time(Clock::now()); }) {}

void Detours::take(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  if (closed_) return misdirected.handler(failure(Delivery::not_sent, Errc::closed, {}, true));
  if (misdirected.result.delivery == Delivery::answered && misdirected.request.commands.size() > 1) {
    take_apart(std::move(misdirected), asked, now);
  } else {
    take_one(std::move(misdirected), asked, now);
  }
}

void Detours::take_one(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  if (misdirected.result.delivery != Delivery::answered) return go_on(std::move(misdirected), {}, now);
  const base::Reply& reply = misdirected.result.replies.front();
  if (cluster::are_apart(misdirected.request.commands.front(), reply))
    return find_keys(std::move(misdirected), asked, now);
  const std::optional<Redirect> redirect = cluster::read_redirect(reply.text, asked);
  if (!redirect) return misdirected.handler(std::move(misdirected.result));
  const bool ask = redirect->kind == Redirect::Kind::ask;
  send_again(std::move(misdirected), ask ? std::optional(redirect->to) : std::nullopt, now);
}

/// To this node, behind an ASKING; or to the one that serves the key.
void Detours::send_again(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now) {
  Request& request = misdirected.request;
  request.asking = to.has_value();
  if (request.detours < UINT8_MAX) ++request.detours;
  if (request.detours <= kAtOnce) return go_on(std::move(misdirected), to, now);
  const base::TimePoint when = now + pause_before(request.detours);
  if (when >= misdirected.deadline) return misdirected.handler(std::move(misdirected.result));
  request.asking = false;  // by then the slot may have moved
  paused_.emplace(when, std::move(misdirected));
  alarm_.set_by(when);
}

void Detours::take_apart(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  auto whole = std::make_shared<Gathered>(Gathered{std::move(misdirected.result), std::move(misdirected.handler)});
  std::vector<Misdirected> parts;
  for (std::size_t i = 0; i < whole->result.replies.size(); ++i) {
    base::Reply& reply = whole->result.replies[i];
    if (!goes_on(misdirected.request.commands[i], reply, asked)) continue;
    Misdirected part;
    part.request.commands.push_back(std::move(misdirected.request.commands[i]));
    part.request.detours = misdirected.request.detours;
    part.deadline = misdirected.deadline;
    part.result.delivery = Delivery::answered;
    part.result.replies.push_back(std::move(reply));
    part.handler = [whole, i](Result result) {
      const bool answered = result.delivery == Delivery::answered;
      whole->result.replies[i] = answered ? std::move(result.replies.front()) : no_reply(result);
      if (--whole->missing == 0) whole->handler(std::move(whole->result));
    };
    parts.push_back(std::move(part));
  }
  whole->missing = parts.size();
  if (parts.empty()) return whole->handler(std::move(whole->result));
  for (Misdirected& part : parts) take_one(std::move(part), asked, now);
}

/// The node that serves the slot says which of them it has.
void Detours::find_keys(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now) {
  Request question;
  question.commands = cluster::ask_for_keys(misdirected.request.commands.front());
  question.timeout = misdirected.deadline - now;
  question.here = true;
  if (question.timeout <= base::Duration::zero()) return misdirected.handler(std::move(misdirected.result));
  const auto waiting = std::make_shared<Misdirected>(std::move(misdirected));
  ways_.by_key(std::move(question), [this, waiting, asked](const Result& found) {
    if (closed_) return waiting->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
    const bool answered = found.delivery == Delivery::answered;
    on_found(std::move(*waiting), answered ? cluster::read_whereabouts(found.replies, asked) : cluster::Whereabouts{},
             Clock::now());
  });
}

void Detours::on_found(Misdirected&& misdirected, const cluster::Whereabouts& where, base::TimePoint now) {
  using Kind = cluster::Whereabouts::Kind;
  base::Command& command = misdirected.request.commands.front();
  if (where.kind == Kind::together) return send_again(std::move(misdirected), {}, now);
  if (where.kind == Kind::left && command.script->of_first_key != nullptr) {
    command = cluster::of_first_key(command);
    return send_again(std::move(misdirected), where.next, now);
  }
  if (where.kind == Kind::apart && command.pieces != nullptr) {
    std::vector<base::Command> pieces = command.pieces(command);
    return send_pieces(std::move(misdirected), std::move(pieces), 0, now);
  }
  misdirected.handler(std::move(misdirected.result));
}

/// Each to where its key is. A lease counts from the first one.
void Detours::send_pieces(Misdirected&& misdirected, std::vector<base::Command> pieces, std::size_t next,
                          base::TimePoint now) {
  const bool last = next + 1 == pieces.size();
  Request piece = last ? misdirected.request : Request{};
  piece.commands = {std::move(pieces[next])};
  piece.operation = misdirected.request.operation;
  piece.timeout = misdirected.deadline - now;
  piece.asking = false;
  if (piece.timeout <= base::Duration::zero()) return misdirected.handler(std::move(misdirected.result));
  const auto waiting = std::make_shared<Misdirected>(std::move(misdirected));
  ways_.by_key(std::move(piece), [this, waiting, last, next, rest = std::move(pieces)](Result result) mutable {
    const bool done = result.delivery == Delivery::answered && !result.replies.front().is_error();
    if (next == 0) waiting->result.sent_at = result.sent_at;
    result.sent_at = waiting->result.sent_at;
    if (last || !done || closed_) return waiting->handler(std::move(result));
    send_pieces(std::move(*waiting), std::move(rest), next + 1, Clock::now());
  });
}

/// To this node, or to the one that serves the key.
void Detours::go_on(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now) {
  Request& request = misdirected.request;
  request.timeout = misdirected.deadline - now;
  if (request.timeout <= base::Duration::zero()) {
    if (misdirected.result.delivery == Delivery::answered) return misdirected.handler(std::move(misdirected.result));
    request.timeout = std::chrono::milliseconds(1);  // the node that has it then reports best what is missing
  }
  if (to) {
    ways_.to(*to, std::move(request), std::move(misdirected.handler));
  } else {
    ways_.by_key(std::move(request), std::move(misdirected.handler));
  }
}

void Detours::on_time(base::TimePoint now) {
  while (!paused_.empty() && paused_.begin()->first <= now) {
    Misdirected next = std::move(paused_.extract(paused_.begin()).mapped());
    alarm_.set(due());
    go_on(std::move(next), {}, now);
  }
  alarm_.set(due());
}

void Detours::close() {
  closed_ = true;
  alarm_.cancel();
  for (auto& [when, each] : std::exchange(paused_, {})) {
    each.handler(failure(Delivery::not_sent, Errc::closed, {}, true));
  }
}

void Detours::drop_all() {
  closed_ = true;
  const auto dropped = std::exchange(paused_, {});
}

using base::Clock;
using cluster::Redirect;
using cluster::Survey;

namespace {

/// The time for one node to answer a survey, including connecting.
constexpr std::chrono::seconds kAskLimit{2};
constexpr const char* kTooMany = "the cluster names too many nodes";

}  // namespace

ClusterServers::ClusterServers(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
                               ServerEvents& events)
    : config_(config),
      events_(events),
      map_(schedule, config, std::move(listeners), *this),
      detours_(schedule,
               {.by_key = [this](Request&& request,
                                 ResultHandler&& handler) { send(std::move(request), std::move(handler)); },
                .to = [this](const NodeAddress& address, Request&& request,
                             ResultHandler&& handler) { send_to(address, std::move(request), std::move(handler)); }}),
      survey_(std::get<ClusterConfig>(config.server).addresses, base::entropy()),
      survey_alarm_(schedule, [this] { carry_out(survey_.on_time(Clock::now())); }),
      publish_(config.publish),
      publish_decided_(config.publish != Publish::automatic) {}

// --- requests ---

Shard& ClusterServers::shard_of(std::string_view key) { return map_.shard_of(cluster::slot_of(key)); }

Shard* ClusterServers::shard_at(const NodeAddress& address) {
  ClusterNode* const node = map_.node(address);
  return node == nullptr ? nullptr : &node->shard;
}

void ClusterServers::send(Request&& request, Lane::Handler&& handler) {
  Shard& shard = shard_of(request.key());
  shard.send(std::move(request), std::move(handler));
  if (&shard == &map_.nowhere()) carry_out(survey_.on_wanted(Clock::now()));
}

void ClusterServers::send_to(const NodeAddress& address, Request&& request, Lane::Handler&& handler) {
  if (Shard* const shard = shard_at(address)) return shard->send(std::move(request), std::move(handler));
  handler(failure(Delivery::not_sent, Errc::unreachable, kTooMany));
}

// --- the nodes ---

NodeAddress ClusterServers::address_of(const Shard& shard) {
  const ClusterNode* const node = map_.node_of(shard);
  return node == nullptr ? NodeAddress{} : node->address;
}

void ClusterServers::connected(Shard& shard) {
  sockets_.add(shard.sockets());
  ClusterNode* const node = map_.node_of(shard);
  if (node == nullptr || !node->serves) return;  // it is only asked for the map
  node->told = true;
  events_.connected(shard);
}

void ClusterServers::disconnected(Shard& shard, const std::string& cause) {
  ClusterNode* const node = map_.node_of(shard);
  if (node == nullptr || (!node->serves && !node->told)) return;
  node->told = false;
  events_.disconnected(shard, cause);
  if (node->serves) doubt(node->address);
}

void ClusterServers::side_connected(Shard& shard, Side side) {
  sockets_.add(shard.sockets());
  events_.side_connected(shard, side);
}

void ClusterServers::to_be_flushed(Shard& shard, std::size_t bytes) {
  if (std::ranges::find(unflushed_, &shard) == unflushed_.end()) unflushed_.push_back(&shard);
  events_.to_be_flushed(shard, bytes);
}

void ClusterServers::misdirected(Shard& shard, Misdirected&& misdirected) {
  detours_.take(std::move(misdirected), address_of(shard), Clock::now());
}

void ClusterServers::taken_away(Shard&, const std::string&) { doubt(std::nullopt); }

void ClusterServers::refused(Shard& shard, const std::string& error_text) {
  const NodeAddress from = address_of(shard);
  if (const auto redirect = cluster::read_redirect(error_text, from)) {
    if (redirect->kind == Redirect::Kind::ask) return;
    map_.correct(redirect->slot, redirect->to);
    survey_.on_corrected(Clock::now(), from, redirect->slot, redirect->to);
    doubt(std::nullopt);
  } else if (is_demoted(error_text)) {
    doubt(from);
  } else if (error_text.starts_with("CLUSTERDOWN")) {
    doubt(std::nullopt);  // healthy nodes reply this too
  }
}

// --- the survey ---

void ClusterServers::doubt(const std::optional<NodeAddress>& about) {
  carry_out(survey_.on_doubt(Clock::now(), about));
}

void ClusterServers::carry_out(const Survey::Step& step) {
  if (detours_.closed()) return;
  survey_alarm_.set(step.due);  // first: the rest may call this again
  if (step.ask) ask(*step.ask);
  if (step.adopt) {
    mapped_ = true;
    map_.adopt(*step.adopt);
    const auto least = std::ranges::min_element(step.adopt->primaries, {}, &cluster::Primary::id);
    const bool told = least != step.adopt->primaries.end() && !least->id.empty();
    cluster_.store(told ? std::hash<std::string>()(least->id) : kNameless, std::memory_order_relaxed);
  }
  if (!step.problem.empty() && !mapped_) map_.nowhere().refuse_waiting(problem_, step.problem);
}

void ClusterServers::ask(const NodeAddress& address) {
  Request request =
      Request::of({{"CLUSTER", "SLOTS"}}, std::min<base::Duration>(config_.timing.connect_timeout, kAskLimit));
  if (!publish_decided_) request.commands.push_back({{"PUBSUB", "SHARDNUMSUB"}});
  request.here = true;
  auto handler = [this, address, keep = owner_.lock()](const Result& result) { on_reply(address, result); };
  if (Shard* const shard = shard_at(address)) return shard->ask(std::move(request), std::move(handler));
  carry_out(survey_.on_failure(Clock::now(), address, kTooMany));
}

void ClusterServers::on_reply(const NodeAddress& from, const Result& result) {
  if (detours_.closed()) return;
  ClusterNode* const node = map_.node(from);
  Survey::Step step;
  const bool answered = result.delivery == Delivery::answered;
  if (const auto view = answered ? cluster::read_view(result.replies.front(), from) : std::nullopt) {
    decide_publish(result);
    step = survey_.on_answer(Clock::now(), from, *view);
  } else {
    const bool refused = answered && result.replies.front().is_error();
    problem_ = refused                                 ? classify(result.replies.front().text).code
               : answered                              ? Errc::server_error
               : result.delivery == Delivery::not_sent ? result.error
                                                       : make_error_code(Errc::unreachable);  // for waiting callers
    const std::string cause = refused    ? explain(result.replies.front().text)
                              : answered ? "its answer makes no sense"
                                         : result.cause;
    step = survey_.on_failure(Clock::now(), from, cause);
  }
  carry_out(step);
  if (node != nullptr) node->shard.rest_if_unused();
}

void ClusterServers::decide_publish(const Result& result) {
  if (publish_decided_) return;
  publish_decided_ = true;
  const Publish publish = result.replies.back().is_error() ? Publish::publish : Publish::spublish;
  publish_.store(publish, std::memory_order_relaxed);
  map_.set_publish(publish);
}

// --- as a whole ---

void ClusterServers::start(const std::weak_ptr<void>& owner) {
  owner_ = owner;
  map_.start(owner);
  if (publish_decided_) map_.set_publish(publish());
  carry_out(survey_.start(Clock::now()));
}

void ClusterServers::flush() {
  for (Shard* const shard : std::exchange(unflushed_, {})) shard->flush();
}

void ClusterServers::recover() {
  map_.for_each_node([](ClusterNode& node) { node.shard.recover(); });
  map_.nowhere().recover();
  carry_out(survey_.on_time(Clock::now()));
}

void ClusterServers::close() {
  detours_.close();
  survey_alarm_.cancel();
  map_.cancel();
  map_.for_each_node([](ClusterNode& node) { node.shard.close(); });
  map_.nowhere().close();
}

void ClusterServers::drop_all() {
  detours_.drop_all();
  map_.for_each_node([](ClusterNode& node) { node.shard.drop_all(); });
  map_.nowhere().drop_all();
}

/// Input on any of them may be what a caller waits for.
std::array<int, 2> ClusterServers::sockets() const {
  const bool connected =
      std::ranges::any_of(map_.serving(), [](const Shard* shard) { return shard->sockets().front() >= 0; });
  return {connected ? sockets_.descriptor() : -1, -1};
}

}  // namespace holdfast::redis
