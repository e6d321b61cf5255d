#include "engine/loop/guest_loop.hpp"

namespace holdfast::engine {
namespace {

/// A handful of commands.
constexpr std::size_t kEnough = 1024;

}  // namespace

GuestLoop::GuestLoop(boost::asio::io_context& host, std::function<void()> settle)
    : Loop(host, nullptr, boost::asio::make_strand(host), std::move(settle)) {}

/// Behind what is ready to run now, so that few commands leave in one write; many in several, so that the server works
/// on the first while the rest is made.
void GuestLoop::to_be_settled(std::size_t bytes) {
  if (bytes >= kEnough) return settle();
  if (std::exchange(settling_, true)) return;
  try {
    defer([this] {
      settling_ = false;
      settle();
    });
  } catch (...) {
    settling_ = false;  // out of memory: now, then
    settle();
  }
}

}  // namespace holdfast::engine
