// SPDX-License-Identifier: Apache-2.0
// `local:`: a private redis-server of this user on a unix socket; started if it does not run yet.
#pragma once

#include <string>

namespace holdfast::private_server {

/// Makes sure that this user's private server runs and returns its socket's path. Takes some 10 ms;
/// with a server or another starter that hangs, half a minute at most.
/// Throws Error(unreachable) if there is no redis-server (or valkey-server) to start, or it does not come up, and
/// Error(denied) if the folder for the socket is not this user's alone.
std::string ensure_local_server();

}  // namespace holdfast::private_server
