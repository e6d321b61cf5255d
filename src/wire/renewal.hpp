// Renewals of many holds of one kind with one command.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/resp.hpp"
#include "wire/owner.hpp"

namespace holdfast::wire {

struct Renewal {
  std::string key;
  std::string owner;
  Mode mode = Mode::exclusive;
};

/// The kind's script, with all keys, the lease and the owner of each.
base::Command renew(const base::Script& script, const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// For each renewal asked for: true if extended. Empty if the reply does not fit the call.
std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked);

}  // namespace holdfast::wire
