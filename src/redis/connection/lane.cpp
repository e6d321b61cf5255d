#include "redis/connection/lane.hpp"

#include "redis/connection/connection.hpp"
#include "redis/connection/pipeline.hpp"

namespace holdfast::redis {

struct Lane::Impl {
  Impl(timing::Schedule& schedule, const Config& user_config, std::shared_ptr<EndpointSource> source,
       Subscriptions& subscriptions, LaneEvents& events)
      : config(user_config),
        pipeline(schedule, config, subscriptions, events, lifeline, connection),
        connection(schedule, config, std::move(source), events, lifeline, pipeline) {}

  const Config config;
  Lifeline lifeline;
  Pipeline pipeline;
  Connection connection;
};

Lane::Lane(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
           Subscriptions& subscriptions, LaneEvents& events)
    : impl_(std::make_shared<Impl>(schedule, config, std::move(source), subscriptions, events)) {
  impl_->lifeline.lane = impl_;
}

Lane::~Lane() { impl_->connection.leave_threads(); }

void Lane::start(std::weak_ptr<void> owner) {
  impl_->lifeline.owner = std::move(owner);
  impl_->connection.connect();
}

void Lane::start_at_rest(std::weak_ptr<void> owner) {
  impl_->lifeline.owner = std::move(owner);
  impl_->connection.rest();
}

void Lane::set_needed(bool needed) { impl_->connection.set_needed(needed); }

bool Lane::at_rest() const { return impl_->connection.at_rest(); }

void Lane::begin_anew() { impl_->connection.begin_anew(); }

void Lane::reroute() { impl_->pipeline.reroute(); }

void Lane::refuse_waiting(std::error_code error, const std::string& cause) {
  impl_->connection.refuse_waiting(error, cause);
}

void Lane::send(Request&& request, Handler&& handler) {
  impl_->pipeline.submit(std::move(request), std::move(handler));
}

void Lane::flush() { impl_->connection.flush(); }

int Lane::socket() const { return impl_->connection.socket(); }

std::string Lane::server() const { return impl_->connection.server(); }

const Endpoint* Lane::endpoint() const { return impl_->connection.endpoint(); }

void Lane::recover() {
  if (!closed()) impl_->connection.recover();
}

bool Lane::closed() const { return impl_->connection.closed(); }

void Lane::close() {
  if (closed()) return;
  impl_->connection.close();
  impl_->pipeline.close();
}

void Lane::drop_all() {
  impl_->connection.drop();
  impl_->pipeline.drop();
}

}  // namespace holdfast::redis
