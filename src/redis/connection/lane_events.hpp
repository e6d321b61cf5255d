// What the owner of a lane hears of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace holdfast::redis {

/// Called on the loop, must not block.
struct LaneEvents {
  std::function<void()> connected;
  std::function<void(const std::string& cause)> disconnected;
  std::function<void()> message;
  std::function<void()> command;
  std::function<void(std::size_t bytes)> to_be_flushed;
};

}  // namespace holdfast::redis
