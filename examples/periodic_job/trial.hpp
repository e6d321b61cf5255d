// SPDX-License-Identifier: Apache-2.0
// A trial of the periodic job, with three instances of it.
#pragma once

#include <string>

namespace periodic_job {

/// Starts three instances on this Redis server, kills one leader and freezes another, and says what held, as read from
/// their journal. True if everything did.
bool try_out(const std::string& url);

}  // namespace periodic_job
