// SPDX-License-Identifier: Apache-2.0
// What a server tells of changes of keys, whoever makes them, and a look at those that have changed: for the tool.
// Exported for it, not for users.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/lock_info.hpp>

#include "base/clock.hpp"

namespace holdfast {

class Client;

namespace detail {

/// As Client::list(), but of these names only, without a search. Not for a cluster. Throws Error.
HOLDFAST_EXPORT std::vector<LockInfo> list_named(const Client& client, const std::vector<std::string>& names,
                                                 InfoDetail detail, KeyForm what);

/// Asks the server to tell of each change of a key that begins so (CLIENT TRACKING with BCAST), on a second connection
/// of this client, which must have no holds; and again on each new connection. One thread waits; the client outlives
/// it.
class HOLDFAST_EXPORT KeyNews {
 public:
  /// Kept for who waits: so many names, and so many bytes of them. Beyond, anything may have changed.
  static constexpr std::size_t kMostNames = 10'000;
  static constexpr std::size_t kMostBytes = 16U << 20U;

  /// `prefix`: of names. Names that are not `wanted`, which is called on the client's loop, are dropped at once.
  KeyNews(const Client& client, const std::string& prefix, std::function<bool(std::string_view)> wanted);
  KeyNews(const KeyNews&) = delete;
  KeyNews& operator=(const KeyNews&) = delete;
  ~KeyNews();

  struct Changed {
    std::string name;
    base::TimePoint told{};  ///< When it was told of first.
  };
  struct News {
    std::vector<Changed> changed{};
    bool all = false;    ///< Anything may have changed: all keys were flushed, or there were too many names.
    bool lost = false;   ///< A connection has ended.
    bool began = false;  ///< It has begun to tell; of what happened before it does not.
    // As it is now:
    bool tells = false;
    std::string why_not{};  ///< It will not on this connection. Empty, and it does not tell: there is no connection.
  };
  /// Waits until there are any, but no longer than until then.
  void wait(const std::stop_token& stop, base::TimePoint until) const;
  /// Those since the last, with so many names at most; the others stay.
  News take(std::size_t most);
  /// True if it was told of and not taken.
  bool has(const std::string& name) const;

 private:
  class Inbox;
  const std::shared_ptr<Inbox> inbox_;
};

}  // namespace detail
}  // namespace holdfast
