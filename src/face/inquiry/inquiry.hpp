// What libraries beside this one may ask of it: the settings of a client, and connections of their own on which any
// command may be sent. Exported for them, and not for users; both are of the same release.
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

/// What this client was made with; of `local:`, with the socket of its server. Valid as long as the client is. Throws
/// Error(closed), Error(forked), and Error(would_deadlock) on a client that runs on the caller's io_context: whoever
/// wants the settings is going to block.
HOLDFAST_EXPORT const Config& settings_of(const Client& client);

/// A client without locks. Blocks; for one thread at a time.
class HOLDFAST_EXPORT Inquiry {
 public:
  /// Connects in the background. Throws as the constructors of Client do.
  explicit Inquiry(Config config);
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  ~Inquiry();

  /// Sends commands together, on this client's one connection, and waits for the replies, of which each may be an
  /// error. Throws Error if they do not come within the command timeout.
  std::vector<base::Reply> ask(std::vector<base::Command> commands);

 private:
  std::shared_ptr<engine::Core> core_;
};

}  // namespace detail
}  // namespace holdfast
