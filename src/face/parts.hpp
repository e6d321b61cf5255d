// What a lock's handle points to, and how it is made.
#pragma once

#include <memory>

#include <holdfast/detail/parts.hpp>
#include <holdfast/options.hpp>

#include "engine/hold/key_target.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::face {

// Defaults for the options that a call leaves out.

/// True: no option is set.
bool are_empty(const AcquireOptions& options);

/// Fills in the options that are left out from the defaults.
AcquireOptions with_defaults(AcquireOptions options, const AcquireOptions& defaults);

}  // namespace holdfast::face

namespace holdfast::detail {

/// The contents of a handle; its copies share them.
struct Parts {
  std::shared_ptr<engine::Runtime> runtime;  // of the client that serves the lock
  std::shared_ptr<engine::Target> target;
  std::unique_ptr<const AcquireOptions> defaults;  // null: none
  wire::Ask ask{};                                 // what it acquires
};

}  // namespace holdfast::detail

namespace holdfast::face {

/// Throws Error(invalid_argument) for defaults out of range.
detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            AcquireOptions defaults, const wire::Ask& ask = {});

/// For a lock that is one key.
inline engine::KeyTarget& key_target(const detail::Parts& parts) {
  return static_cast<engine::KeyTarget&>(*parts.target);
}

}  // namespace holdfast::face
