#include "redis/lane.hpp"

#include <boost/asio/post.hpp>

#include "redis/boost_settings.hpp"
#include "redis/lane_impl.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;

Lane::Impl::Impl(asio::io_context& context, const Config& user_config, Channels& hub, LaneEvents lane_events)
    : config(user_config),
      channels(hub),
      events(std::move(lane_events)),
      run_config(connection_config(config)),
      executor(context.get_executor()),
      connection(executor, make_tls_context(config, tls_refusal),
                 boost::redis::logger{boost::redis::logger::level::disabled}),
      op_timer(context),
      connect_timer(context),
      idle_timer(context),
      backoff(config.reconnect_min, config.reconnect_max),
      random(std::random_device{}()) {
  connection.set_receive_response(push_sink);
}

Lane::Lane(asio::io_context& context, const Config& config, Channels& channels, LaneEvents events)
    : impl_(std::make_shared<Impl>(context, config, channels, std::move(events))) {}

Lane::~Lane() = default;

void Lane::start() {
  asio::post(impl_->executor, [impl = impl_] {
    impl->receive();
    impl->connect();
  });
}

void Lane::submit(Request request, Handler handler) {
  auto op = std::make_shared<Op>();
  op->request = std::move(request);
  op->handler = std::move(handler);
  asio::post(impl_->executor, [impl = impl_, op = std::move(op)] { impl->accept(op); });
}

void Lane::close() { impl_->close(); }

}  // namespace holdfast::redis
