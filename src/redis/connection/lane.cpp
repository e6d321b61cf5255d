#include "redis/connection/lane.hpp"

#include "base/entropy.hpp"
#include "redis/connection/lane_impl.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;

Lane::Impl::Impl(asio::any_io_executor the_loop, const Config& user_config, Channels& hub, LaneEvents lane_events)
    : config(user_config),
      channels(hub),
      events(std::move(lane_events)),
      tls(make_tls_context(config, tls_refusal)),
      executor(std::move(the_loop)),
      resolver(executor),
      op_timer(executor),
      connect_timer(executor),
      idle_timer(executor),
      health_timer(executor),
      backoff(config.reconnect_min, config.reconnect_max),
      random(base::entropy()) {}

std::shared_ptr<Lane::Impl> Lane::Impl::self() {
  std::shared_ptr<void> kept = owner.lock();
  return kept ? std::shared_ptr<Impl>(std::move(kept), this) : shared_from_this();
}

Lane::Lane(const asio::any_io_executor& executor, const Config& config, Channels& channels, LaneEvents events)
    : impl_(std::make_shared<Impl>(executor, config, channels, std::move(events))) {}

Lane::~Lane() {
  if (impl_) impl_->resolver.leave();
}

void Lane::start(std::weak_ptr<void> owner) {
  impl_->owner = std::move(owner);
  impl_->connect();
}

void Lane::send(Request request, Handler handler) {
  std::shared_ptr<Op> op;
  try {
    op = std::make_shared<Op>(std::move(request), std::move(handler));
    impl_->accept(op);
    return;
  } catch (...) {
    if (op) impl_->leave_gate(*op);
    if (op && op->is_linked()) op->unlink();
  }
  const Handler told = std::move(op ? op->handler : handler);
  told(failure(Delivery::not_sent, Errc::exhausted, {}));
}

void Lane::flush() {
  if (impl_->session) impl_->session->flush();
}

int Lane::socket() const { return impl_->session ? impl_->session->socket() : -1; }

void Lane::recover() { impl_->recover(); }

void Lane::close() { impl_->close(); }

void Lane::drop_all() {
  impl_->state = Impl::State::closed;
  impl_->deadlines.clear();
  const std::list<Impl::OpPtr> waiting = std::exchange(impl_->gate, {});
  const std::deque<Impl::OpPtr> sent = std::exchange(impl_->in_flight, {});
  impl_->login.reset();
  impl_->resolver.leave();
  impl_->session.reset();
}

}  // namespace holdfast::redis
