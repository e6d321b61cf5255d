// A kind of lock as data: how the engine must treat it, what it sends for it, and how it reads the answers.
#pragma once

#include <utility>
#include <vector>

#include "wire/calls.hpp"
#include "wire/renewal.hpp"

namespace holdfast::engine {

/// What the engine does differently from kind to kind.
struct Traits {
  /// A thread that holds it may take it once more: BasicLock counts that in the client and sends nothing. If not, it is
  /// told that it would wait for itself.
  bool reentrant = true;
  /// Which clients of this kind tell their releases on the wake channels. Not `all`: waiters ask now and then as well
  /// and do without the channels where they may not subscribe, nobody passes it on, and no release waits for the next
  /// command. `none`: nobody subscribes either.
  enum class Announced : std::uint8_t { all, some, none };
  Announced announced = Announced::all;
  /// Who may have it at the same time. `one`: one owner. `readers`: one, or several who share it, of whom those of one
  /// client share a hold at the server. `several`: what is of one client is nothing to its other callers: each asks the
  /// server, unless what another one gives back is passed on to it.
  enum class Holders : std::uint8_t { one, readers, several };
  Holders holders = Holders::one;
  /// Who says who is next. `client`: of one client's waiters only the first asks. `server`: it keeps a queue of all of
  /// them, so each one asks as soon as it comes, and is woken on a channel of its own.
  enum class Order : std::uint8_t { client, server };
  Order order = Order::client;
  /// A released hold may be kept for another caller of this client, in the queue or just come (Target::retain). If not,
  /// each acquisition is one at the server, as a number that grows with each of them needs it.
  bool passable = true;
  /// The same acquire or release sent twice changes nothing more than sent once. If not, the engine, which sends both
  /// again when an outcome is unknown, and undoes what nobody will use, gives each call a key (wire::Once) by which the
  /// server knows it again. Such a kind is not for groups, which acquire once more what a member has lost.
  bool repeatable = true;
  /// What is granted is held until it is given back: renewed, watched, and lost when its lease is over. If not, whoever
  /// asked has got what there was to get, and nothing is left of it here: a permit without a lease, or an open latch.
  bool holds = true;
};

/// The changes on the server, each as a command and the meaning of its reply.
struct Transitions {
  wire::LockNames (*names)(std::string raw_name) = nullptr;
  base::Command (*acquire)(const wire::AcquireCall&) = nullptr;
  wire::AcquireReply (*decode_acquire)(const base::Reply&) = wire::decode_acquire;
  /// Null: an acquire takes nothing, so that nothing is given back or undone.
  base::Command (*release)(const wire::ReleaseCall&) = nullptr;
  /// How many clients were told; empty: it was not this owner's.
  std::optional<std::int64_t> (*decode_release)(const base::Reply&) = wire::decode_release;
  /// Null for kinds that hold nothing.
  base::Command (*renew)(const std::vector<wire::Renewal>&, std::chrono::milliseconds lease) = nullptr;
  /// From this owner; without one, from whoever has it. An integer, 1: it was held so.
  base::Command (*force_release)(const wire::LockNames&, const std::optional<wire::Owner>&, Publish) = nullptr;
  /// For kinds of which a holder may go on as one of several, without a moment in which it has nothing; else null. The
  /// reply is that of a release: who was told that others may come in beside it.
  base::Command (*share)(const wire::ShareCall&) = nullptr;
  /// For kinds whose server keeps a queue; else null. It is sent whenever an owner that has asked stops waiting without
  /// a grant, behind whatever of it is under way, and again until it is answered: once more must change nothing.
  base::Command (*leave)(const wire::LeaveCall&) = nullptr;
  /// For kinds that wake each waiter on a channel of its own; else null: all of them hear the channel of the lock.
  std::string (*wake_channel)(const wire::LockNames&, const wire::Owner& waiter) = nullptr;
};

/// What is asked about one lock, and changes nothing.
struct Questions {
  /// Where it is written who has it, and what is changed when an owner has it no more; null: the lock's own key.
  std::string (*owners_key)(std::string_view key) = nullptr;
  /// Of that key.
  base::Command (*ask_owner)(std::string_view key, const wire::Owner&) = nullptr;
  bool (*is_owner)(const base::Reply&, const wire::Owner&) = nullptr;
  base::Command (*holder)(std::string_view key) = nullptr;  // an error if something else than such a lock is there
  wire::Held (*decode_holder)(const base::Reply&) = nullptr;
  /// Of the same reply, all of them, where there can be several; null: there is one at most.
  std::vector<wire::Held> (*decode_holders)(const base::Reply&) = nullptr;
  /// Of the same reply, how many can be taken, of kinds that count; else null.
  std::optional<std::int64_t> (*decode_available)(const base::Reply&) = nullptr;
  /// For kinds whose server keeps a queue; else null: in place of `holder`, who has it, and who waits, the first so
  /// many of them.
  base::Command (*line)(std::string_view key, std::size_t most) = nullptr;
  wire::Line (*decode_line)(const base::Reply&) = nullptr;
  /// For kinds whose grants are numbered; else null.
  base::Command (*latest_token)(std::string_view key) = nullptr;
  std::int64_t (*decode_latest_token)(const base::Reply&) = nullptr;
};

inline std::string owners_key(const Questions& questions, std::string key) {
  return questions.owners_key == nullptr ? std::move(key) : questions.owners_key(key);
}

/// Who has it; nobody: it is free.
inline std::vector<wire::Held> decode_holders(const Questions& questions, const base::Reply& reply) {
  if (questions.decode_holders != nullptr) return questions.decode_holders(reply);
  wire::Held one = questions.decode_holder(reply);
  return one.owner.empty() ? std::vector<wire::Held>() : std::vector<wire::Held>{std::move(one)};
}

/// One per kind, in src/kinds/. All functions are pure.
struct Plan {
  Traits traits{};
  Transitions transitions{};
  Questions questions{};
  /// Of a kind that asks for any one of several: what that one is, once it is granted (wire::Grant::which). Else null.
  const Plan* each = nullptr;
};

}  // namespace holdfast::engine
