// Which scripts a server has been given on one session.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/resp.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

/// A script is loaded ahead of its first use on a session: a NOSCRIPT would let what is sent behind it overtake it.
class LoadedScripts {
 public:
  /// Of a new session nothing is known.
  void clear() { loaded_.clear(); }

  /// Loads what these commands need and was not loaded yet. How many replies come for that.
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
