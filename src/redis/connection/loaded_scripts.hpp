// Which scripts were loaded in one session.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/resp.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

/// A script is loaded before its first use in a session: after a NOSCRIPT, later commands would overtake the resent
/// one.
class LoadedScripts {
 public:
  /// For a new session.
  void clear() { loaded_.clear(); }

  /// Writes commands that load the missing scripts. Returns how many replies they get.
  std::size_t load(const std::vector<base::Command>& commands, std::string& out) {
    std::size_t loads = 0;
    for (const base::Command& command : commands) {
      if (command.script == nullptr || !loaded_.insert(command.script).second) continue;
      encode(out, "SCRIPT", {"LOAD", std::string(command.script->text)});
      ++loads;
    }
    return loads;
  }

 private:
  std::set<const base::Script*> loaded_;
};

}  // namespace holdfast::redis
