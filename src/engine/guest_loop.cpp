#include "engine/guest_loop.hpp"

namespace holdfast::engine {

GuestLoop::GuestLoop(boost::asio::io_context& host, std::function<void()> settle)
    : Loop(host, boost::asio::make_strand(host), std::move(settle)) {}

/// Behind what is ready to run now, so that all of that leaves in one write.
void GuestLoop::to_be_settled() {
  if (std::exchange(settling_, true)) return;
  defer([this] {
    settling_ = false;
    settle();
  });
}

}  // namespace holdfast::engine
