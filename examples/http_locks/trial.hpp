// SPDX-License-Identifier: Apache-2.0
// A trial of the service, with two instances of it.
#pragma once

#include <string>

namespace http_locks {

/// Starts two instances on this Redis server and one folder, and says what held. True if everything did.
bool try_out(const std::string& url);

}  // namespace http_locks
