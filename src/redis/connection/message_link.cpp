// SPDX-License-Identifier: Apache-2.0
// Subscriptions of a link that speaks RESP2, on a connection of their own.
#include <algorithm>
#include <utility>

#include "redis/connection/link.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {
namespace {

/// For this address alone, and without HELLO.
Config settings_for(const Config& config, const ServerAddress& address) {
  Config its = config;
  its.protocol = 2;
  if (address.unix_socket.empty()) {
    its.server = NodeAddress{address.host, address.port};
  } else {
    its.server = UnixSocket{address.unix_socket};
  }
  return its;
}

}  // namespace

MessageLink::MessageLink(timing::Schedule& schedule, const Config& config, const ServerAddress& address,
                         Subscriptions& subscriptions, LaneEvents& main)
    : subscriptions_(subscriptions), main_(main) {
  const Config its = settings_for(config, address);
  auto source = std::make_shared<ConfiguredEndpoint>(its);
  LaneEvents& events = *this;
  link_ = std::make_shared<Link>(schedule, its, std::move(source), subscriptions, events, Purpose::messages);
}

void MessageLink::start() {
  link_->owner = weak_from_this();
  link_->connection.connect();
}

void MessageLink::flush() {
  if (Session* const session = link_->connection.session()) session->flush();
}

void MessageLink::end(std::shared_ptr<void> main) {
  keep_ = std::move(main);
  link_->connection.close();
  link_->pipeline.close();
}

void MessageLink::drop() {
  link_->connection.drop();
  link_->pipeline.drop();
}

void MessageLink::leave_threads() { link_->connection.leave_threads(); }

void MessageLink::subscribe(const std::vector<std::string>& channels, Publish how) {
  wanted_[channels] = how;
  if (wanted_.size() >= look_at_) forget_unused();
  send(channels, how);
}

void MessageLink::forget_unused() {
  const Listeners& listeners = *subscriptions_.listeners();
  std::erase_if(wanted_, [&](const auto& each) {
    return std::ranges::none_of(each.first, [&](const std::string& channel) { return listeners.users(channel) > 0; });
  });
  look_at_ = std::max(kFewest, wanted_.size() * 2);
}

void MessageLink::connected() {
  forget_unused();
  for (const auto& [channels, how] : wanted_) send(channels, how);
}

/// A refusal is remembered by the subscriptions. What failed otherwise is sent again on the next connection, or at the
/// next look of a waiter.
void MessageLink::send(const std::vector<std::string>& channels, Publish how) {
  if (!under_way_.insert(channels).second) return;
  Request request = Request::of({{"PING"}}, link_->config.timing.command_timeout);
  request.subscribe = channels;
  request.publish = how;
  request.here = true;
  link_->pipeline.submit(std::move(request), [weak = weak_from_this(), channels](const Result& result) {
    const std::shared_ptr<MessageLink> self = weak.lock();
    if (!self) return;
    self->under_way_.erase(channels);
    if (!result.subscribed) return;
    for (const std::string& channel : channels) self->subscriptions_.listeners()->on_message(channel);
  });
}

}  // namespace holdfast::redis
