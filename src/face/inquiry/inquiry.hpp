// SPDX-License-Identifier: Apache-2.0
// What this library offers to its companion libraries: the settings of a client, and connections of their own for any
// commands. Exported for them, not for users; all are of the same release.
#pragma once

#include <memory>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/export.hpp>

#include "base/resp.hpp"

namespace holdfast {

class Client;

namespace engine {
class Core;
}

namespace detail {

/// What this client was made with; for `local:`, with the socket of its server. Valid as long as the client is. Throws
/// Error(closed), Error(forked), and Error(would_deadlock) on a client that runs on the caller's io_context, since the
/// caller is about to block.
HOLDFAST_EXPORT const Config& settings_of(const Client& client);

/// A client without locks. Blocks; for one thread at a time.
class HOLDFAST_EXPORT Inquiry {
 public:
  /// Connects in the background. Throws as the constructors of Client do.
  explicit Inquiry(Config config);
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  ~Inquiry();

  /// Sends the commands together, on this client's one connection, and waits for the replies, each of which may be an
  /// error. Throws Error if they do not come within the command timeout, or if they have more than 2 MB or 32,768
  /// elements in all.
  std::vector<base::Reply> ask(std::vector<base::Command> commands);

 private:
  std::shared_ptr<engine::Core> core_;
};

}  // namespace detail
}  // namespace holdfast
