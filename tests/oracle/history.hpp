// SPDX-License-Identifier: Apache-2.0
// Random histories of what clients send, and what befalls the server meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/model/node.hpp"

namespace holdfast::test::oracle {

/// Who sends: two that take and give back locks, two that listen, one that is told of changes, and one that looks.
enum Who : std::uint8_t { one, two, listener, another_listener, tracker, looker };
constexpr std::size_t kSessions = 6;

struct Step {
  enum class Kind : std::uint8_t {
    command,
    untold,    // a command in a transaction of which its session is not told, and a read of all names behind it
    brief,     // a command after which its lease is waited for
    forbid,    // the command in `words` is forbidden
    allow,     // or allowed again
    full,      // no memory
    roomy,     // again
    lonely,    // too few replicas for writes
    together,  // again
    follow,    // it becomes a replica
    lead,      // and a primary again
  };
  Kind kind = Kind::command;
  Who who = one;
  std::vector<std::string> words;
};
std::string to_string(const Step& step);

/// Of the names that histories use, some are of locks, some of another kind.
const std::vector<std::string>& names();

/// What says how the rest is that belongs to those names: queues with their deadlines, readers' holds, permits, and
/// what the server knows again.
const std::vector<std::vector<std::string>>& questions();

/// The same from the same seed.
std::vector<Step> make_history(std::uint64_t seed, std::size_t steps, const Likeness& like);

}  // namespace holdfast::test::oracle
