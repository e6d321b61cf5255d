// What binds a lock to the engine. Not for users.
#pragma once

#include <memory>

namespace holdfast {

namespace engine {
class Core;
class Target;
}  // namespace engine

namespace detail {

/// What a lock is made of: the client that serves it, and what is acquired.
struct Parts {
  std::shared_ptr<engine::Core> core;
  std::shared_ptr<engine::Target> target;
};

}  // namespace detail
}  // namespace holdfast
