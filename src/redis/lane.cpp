#include "redis/lane.hpp"

#include <boost/asio/post.hpp>

#include "redis/lane_impl.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;

Lane::Impl::Impl(asio::io_context& io_context, const Config& user_config, Channels& hub, LaneEvents lane_events)
    : config(user_config),
      channels(hub),
      events(std::move(lane_events)),
      tls(make_tls_context(config, tls_refusal)),
      context(io_context),
      op_timer(context),
      connect_timer(context),
      idle_timer(context),
      health_timer(context),
      backoff(config.reconnect_min, config.reconnect_max),
      random(std::random_device{}()) {}

Lane::Lane(asio::io_context& context, const Config& config, Channels& channels, LaneEvents events)
    : impl_(std::make_shared<Impl>(context, config, channels, std::move(events))) {}

Lane::~Lane() = default;

void Lane::start() {
  asio::post(impl_->context, [impl = impl_] { impl->connect(); });
}

void Lane::submit(Request request, Handler handler) {
  auto op = std::make_shared<Op>(std::move(request), std::move(handler));
  asio::post(impl_->context, [impl = impl_, op = std::move(op)] { impl->accept(op); });
}

void Lane::send(Request request, Handler handler) {
  impl_->accept(std::make_shared<Op>(std::move(request), std::move(handler)));
}

void Lane::flush() {
  if (impl_->session) impl_->session->flush();
}

void Lane::close() { impl_->close(); }

}  // namespace holdfast::redis
