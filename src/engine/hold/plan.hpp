// A kind of lock as data: what the engine sends for its transitions, and how it reads the answers.
#pragma once

#include "wire/calls.hpp"
#include "wire/renewal.hpp"

namespace holdfast::engine {

/// One per kind, in src/kinds/. All functions are pure.
struct Plan {
  wire::LockNames (*names)(std::string raw_name);
  base::Command (*acquire)(const wire::AcquireCall&);
  wire::AcquireReply (*decode_acquire)(const base::Reply&);
  base::Command (*release)(const wire::ReleaseCall&);
  std::optional<std::int64_t> (*decode_release)(const base::Reply&);
  base::Command (*renew)(const std::vector<wire::Renewal>&, std::chrono::milliseconds lease);

  // What is asked about one lock.
  base::Command (*force_release)(const wire::LockNames&);
  base::Command (*count)(std::string_view key);  // an integer, 0: free; an error if the key is of another type
  base::Command (*ask_owner)(std::string_view key, std::string_view owner);
  bool (*is_owner)(const base::Reply&, std::string_view owner);
  base::Command (*holder)(std::string_view key);
  wire::Held (*decode_holder)(const base::Reply&);

  /// A thread that holds it may take it once more (counted in the client).
  bool reentrant;
  /// Every client of this kind tells its releases on the channel. If not, waiters ask now and then as well, and do
  /// without the channel where they may not subscribe.
  bool announced;
};

}  // namespace holdfast::engine
