// Renewals of many holds of one kind with one command.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
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

/// For each requested renewal: true if extended. Empty if the reply does not fit the call.
std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked);

/// For a connection that is notified, once, when a key that it has read changes (CLIENT TRACKING): a transaction that
/// renews without such a notice and then reads the keys, so that the next change by anyone is reported. The number of
/// its commands.
constexpr std::size_t kUntoldCommands = 6;
void add_untold(std::vector<base::Command>& to, base::Command renewal, std::vector<std::string> keys);
/// The same without a renewal, to check that all of it is permitted.
constexpr std::size_t kUntoldTrial = 4;
void add_untold_trial(std::vector<base::Command>& to);
/// From these replies, the one to the renewal; for a trial, that of its last step. Null: nothing was executed.
const base::Reply* untold_reply(std::span<const base::Reply> replies);

}  // namespace holdfast::wire
