// The event loop of a client that runs on the caller's io_context.
#pragma once

#include <functional>
#include <memory>

#include "engine/loop/loop.hpp"

namespace holdfast::engine {

/// No thread of its own: whoever runs the io_context drives it, one thread or several (a strand keeps them apart).
/// Nobody may wait for it, since nobody knows whether the caller is needed to drive it.
class GuestLoop final : public Loop {
 public:
  GuestLoop(boost::asio::io_context& host, std::function<void()> settle);

  /// Handlers keep `owner` alive from here on, so it may be forgotten while some are under way.
  void start(std::weak_ptr<void> owner) { keep(std::move(owner)); }

  bool inside() const override { return strand()->running_in_this_thread(); }
  void post_from_caller(std::shared_ptr<Task> task, Pace) override { post(std::move(task)); }
  void nudge() override {}
  void to_be_settled(std::size_t bytes) override;

 private:
  void attend() override {}
  void attended() override {}

  bool settling_ = false;  // inside
};

}  // namespace holdfast::engine
