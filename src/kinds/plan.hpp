// SPDX-License-Identifier: Apache-2.0
// A kind of lock as data: how the engine treats it, what it sends, and how it reads the replies.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "kinds/calls.hpp"

namespace holdfast::engine {

/// What the engine does differently from kind to kind.
struct Traits {
  /// A thread that holds it may lock it again: BasicLock counts that in the client and sends nothing. If not, it gets
  /// `would_deadlock`.
  bool reentrant = true;
  /// Which clients of this kind publish their releases on the wake channels. If not `all`: waiters also poll, and do
  /// without the channels if not permitted to subscribe; it is not passed on; and no release waits for the next
  /// command. `none`: nobody subscribes either.
  enum class Announced : std::uint8_t { all, some, none };
  Announced announced = Announced::all;
  /// Who may have it at the same time. `one`: one owner. `readers`: one, or several sharing it; those of one client
  /// share a hold at the server. `several`: holds of one client are independent: each caller asks the server, unless a
  /// released hold is passed on to it.
  enum class Holders : std::uint8_t { one, readers, several };
  Holders holders = Holders::one;
  /// Who decides who is next. `client`: of one client's waiters only the first asks. `server`: it queues all waiters,
  /// so each asks as soon as it arrives, and is woken on a channel of its own.
  enum class Order : std::uint8_t { client, server };
  Order order = Order::client;
  /// A released hold may be kept for another caller of this client, queued or new (Target::retain). If not, each
  /// acquisition is made at the server, as needed for tokens that grow with each one.
  bool passable = true;
  /// Sending the same acquire or release twice has the same effect as once. If not, the engine gives each call a key
  /// (wire::Once) by which the server recognises it, since it resends both when an outcome is unknown, and undoes
  /// unused grants. Such a kind cannot be in groups, which acquire again what a member has lost.
  bool repeatable = true;
  /// A grant is held until released: renewed, watched, and lost when its lease is over. If not, the acquire itself is
  /// all there is, and leaves no state here: a permit without a lease, or an open latch.
  bool holds = true;
};

/// The changes on the server, each as a command and the meaning of its reply.
struct Transitions {
  wire::LockNames (*names)(std::string raw_name) = nullptr;
  base::Command (*acquire)(const wire::AcquireCall&) = nullptr;
  wire::AcquireReply (*decode_acquire)(const base::Reply&) = wire::decode_acquire;
  /// Null: an acquire takes nothing, so there is nothing to release or undo.
  base::Command (*release)(const wire::ReleaseCall&) = nullptr;
  /// How many clients were notified; empty: it was not this owner's.
  std::optional<std::int64_t> (*decode_release)(const base::Reply&) = wire::decode_release;
  /// Null for kinds that hold nothing.
  base::Command (*renew)(const std::vector<wire::Renewal>&, std::chrono::milliseconds lease) = nullptr;
  /// From this owner; without one, from any owner. An integer, 1: it was held.
  base::Command (*force_release)(const wire::LockNames&, const std::optional<wire::Owner>&, Publish) = nullptr;
  /// For kinds whose exclusive holder may become a shared one without a gap; otherwise null. The reply is that of a
  /// release: how many were notified that they may join.
  base::Command (*share)(const wire::ShareCall&) = nullptr;
  /// For kinds whose server keeps a queue; otherwise null. Sent whenever an owner that has asked stops waiting without
  /// a grant, after its pending commands, and resent until answered, so it must be safe to repeat.
  base::Command (*leave)(const wire::LeaveCall&) = nullptr;
  /// For kinds that wake each waiter on a channel of its own; otherwise null: all listen on the lock's channel.
  std::string (*wake_channel)(const wire::LockNames&, const wire::Owner& waiter) = nullptr;
};

/// Queries about one lock, which change nothing.
struct Questions {
  /// The key that records who has it, and that changes when an owner loses it; null: the lock's own key.
  std::string (*owners_key)(std::string_view key) = nullptr;
  /// For that key.
  base::Command (*ask_owner)(std::string_view key, const wire::Owner&) = nullptr;
  /// Empty: the reply says neither yes nor no.
  std::optional<bool> (*is_owner)(const base::Reply&, const wire::Owner&) = [](const base::Reply& reply,
                                                                               const wire::Owner&) {
    return reply.is_integer() ? std::optional(reply.integer == 1) : std::nullopt;
  };
  base::Command (*holder)(std::string_view key) = nullptr;  // an error if something other than such a lock is there
  wire::Held (*decode_holder)(const base::Reply&) = nullptr;
  /// All holders from the same reply, if there can be several; null: at most one.
  std::vector<wire::Held> (*decode_holders)(const base::Reply&) = nullptr;
  /// For kinds that count, how many can be taken, from the same reply; otherwise null.
  std::optional<std::int64_t> (*decode_available)(const base::Reply&) = nullptr;
  /// For kinds whose server keeps a queue; otherwise null: instead of `holder`, the holder and the first `most`
  /// waiters.
  base::Command (*line)(std::string_view key, std::size_t most) = nullptr;
  wire::Line (*decode_line)(const base::Reply&) = nullptr;
  /// For kinds whose grants are numbered; otherwise null.
  base::Command (*latest_token)(std::string_view key) = nullptr;
  std::optional<std::int64_t> (*decode_latest_token)(const base::Reply&) = nullptr;  // empty: it is no number
};

inline std::string owners_key(const Questions& questions, std::string key) {
  return questions.owners_key == nullptr ? std::move(key) : questions.owners_key(key);
}

/// The holders; none: it is free. Throws std::runtime_error if the reply says neither who they are nor that: whoever
/// asks must not take nonsense for a lock that is free.
inline std::vector<wire::Held> decode_holders(const Questions& questions, const base::Reply& reply) {
  if (reply.is_null()) return {};
  if (questions.decode_holders == nullptr) {
    wire::Held one = questions.decode_holder(reply);
    if (one.owner.empty()) throw std::runtime_error("it names no holder");
    return {std::move(one)};
  }
  std::vector<wire::Held> all = questions.decode_holders(reply);
  const bool counted = questions.decode_available != nullptr && questions.decode_available(reply);
  if (all.empty() && !counted) throw std::runtime_error("it names no holder");
  return all;
}

/// One per kind, in src/kinds/. All functions are pure.
struct Plan {
  Traits traits{};
  Transitions transitions{};
  Questions questions{};
  /// For a kind that requests any one of several: the kind of the one that is granted (wire::Grant::which). Otherwise
  /// null.
  const Plan* each = nullptr;
};

}  // namespace holdfast::engine
