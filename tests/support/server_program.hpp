// SPDX-License-Identifier: Apache-2.0
// The server program that the tests start: HOLDFAST_REDIS_SERVER, or redis-server or valkey-server from the PATH.
#pragma once

#include <string>
#include <vector>

#include "support/process.hpp"

namespace holdfast::test {

Process start_server_program(const std::vector<std::string>& args, const ProcessOptions& options);

/// `Redis 6.0.16`, `Valkey 9.1.2`. The program is asked once.
const std::string& server_version();

/// It can do what this version of Redis can; of Valkey, what Redis 7.2 can.
bool server_like_redis(int major, int minor);

/// It is Valkey, of this version or later.
bool server_is_valkey(int major, int minor);

}  // namespace holdfast::test
