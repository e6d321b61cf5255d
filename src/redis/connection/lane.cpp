// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/lane.hpp"

#include "redis/connection/link.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

Lane::Lane(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
           Subscriptions& subscriptions, LaneEvents& events)
    : link_(std::make_shared<Link>(schedule, config, std::move(source), subscriptions, events)) {}

Lane::~Lane() {
  link_->connection.leave_threads();
  if (link_->messages) link_->messages->leave_threads();
}

void Lane::start(std::weak_ptr<void> owner) {
  link_->owner = std::move(owner);
  link_->connection.connect();
}

void Lane::start_at_rest(std::weak_ptr<void> owner) {
  link_->owner = std::move(owner);
  link_->connection.rest();
}

void Lane::set_needed(bool needed) { link_->connection.set_needed(needed); }

bool Lane::at_rest() const { return link_->connection.at_rest(); }

void Lane::begin_anew() { link_->connection.begin_anew(); }

void Lane::reroute() { link_->pipeline.reroute(); }

void Lane::refuse_waiting(std::error_code error, const std::string& cause) {
  link_->connection.refuse_waiting(error, cause);
}

void Lane::send(Request&& request, Handler&& handler) {
  link_->pipeline.submit(std::move(request), std::move(handler));
}

void Lane::flush() {
  if (Session* const session = link_->connection.session()) session->flush();
  if (link_->messages) link_->messages->flush();
}

int Lane::socket() const {
  Session* const session = link_->connection.session();
  return session != nullptr ? session->socket() : -1;
}

std::string Lane::server() const {
  const Session* const session = link_->connection.session();
  return session != nullptr ? session->server() : std::string();
}

const Endpoint* Lane::endpoint() const {
  const Session* const session = link_->connection.session();
  return session != nullptr && session->endpoint() ? &*session->endpoint() : nullptr;
}

bool Lane::speaks_resp2() const { return link_->connection.speaks_resp2(); }

void Lane::recover() {
  if (!closed()) link_->connection.recover();
}

bool Lane::closed() const { return link_->connection.closed(); }

void Lane::close() {
  if (closed()) return;
  link_->connection.close();
  link_->pipeline.close();
}

void Lane::drop_all() {
  if (link_->messages) link_->messages->drop();
  link_->connection.drop();
  link_->pipeline.drop();
}

}  // namespace holdfast::redis
