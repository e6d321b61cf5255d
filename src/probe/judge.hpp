// SPDX-License-Identifier: Apache-2.0
// Judges what the collected facts mean for locks.
#pragma once

#include <holdfast/probe.hpp>

#include "probe/facts.hpp"

namespace holdfast::probing {

ProbeReport judge(const Facts& facts);

}  // namespace holdfast::probing
