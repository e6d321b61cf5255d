// What binds a lock to the engine. Not for users.
#pragma once

#include <memory>

namespace holdfast {

namespace engine {
class Runtime;
class Target;
}  // namespace engine

namespace detail {

/// What a lock is made of: what the client that serves it runs on, and what is acquired.
struct Parts {
  std::shared_ptr<engine::Runtime> runtime;  // and with it the client
  std::shared_ptr<engine::Target> target;
};

}  // namespace detail
}  // namespace holdfast
