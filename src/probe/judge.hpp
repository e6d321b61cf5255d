// From what was learnt about some servers to what it means for locks.
#pragma once

#include <holdfast/probe.hpp>

#include "probe/facts.hpp"

namespace holdfast::probing {

ProbeReport judge(const Facts& facts);

}  // namespace holdfast::probing
