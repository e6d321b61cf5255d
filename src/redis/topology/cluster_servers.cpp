#include "redis/topology/cluster_servers.hpp"

#include <algorithm>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

#include <holdfast/error.hpp>

#include "base/entropy.hpp"
#include "redis/cluster/redirect.hpp"
#include "redis/connection/op.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {

SocketSet::SocketSet() : set_(epoll_create1(EPOLL_CLOEXEC)) {}

SocketSet::~SocketSet() {
  if (set_ >= 0) close(set_);
}

void SocketSet::add(const std::array<int, 2>& sockets) {
  for (const int socket : sockets) {
    if (set_ < 0 || socket < 0) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
  }
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
      survey_(config.cluster.addresses, base::entropy()),
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
  if (closed_) return;
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
  Request request = Request::of({{"CLUSTER", "SLOTS"}}, std::min<base::Duration>(config_.connect_timeout, kAskLimit));
  if (!publish_decided_) request.commands.push_back({{"PUBSUB", "SHARDNUMSUB"}});
  request.here = true;
  auto handler = [this, address, keep = owner_.lock()](const Result& result) { on_reply(address, result); };
  if (Shard* const shard = shard_at(address)) return shard->ask(std::move(request), std::move(handler));
  carry_out(survey_.on_failure(Clock::now(), address, kTooMany));
}

void ClusterServers::on_reply(const NodeAddress& from, const Result& result) {
  if (closed_) return;
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
  closed_ = true;
  survey_alarm_.cancel();
  map_.cancel();
  map_.for_each_node([](ClusterNode& node) { node.shard.close(); });
  map_.nowhere().close();
  detours_.close();
}

void ClusterServers::drop_all() {
  closed_ = true;
  map_.for_each_node([](ClusterNode& node) { node.shard.drop_all(); });
  map_.nowhere().drop_all();
  detours_.drop_all();
}

/// Input on any of them may be what a caller waits for.
std::array<int, 2> ClusterServers::sockets() const {
  const bool connected =
      std::ranges::any_of(map_.serving(), [](const Shard* shard) { return shard->sockets().front() >= 0; });
  return {connected ? sockets_.descriptor() : -1, -1};
}

}  // namespace holdfast::redis
