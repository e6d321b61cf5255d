// Assembles a client's metrics.
#pragma once

#include <holdfast/metrics.hpp>

#include "engine/client/core.hpp"

namespace holdfast::face {

Metrics metrics_of(engine::Core& core);

}  // namespace holdfast::face
