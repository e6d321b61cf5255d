// SPDX-License-Identifier: Apache-2.0
// The transitions of the fair lock: the plain lock's hash, and a queue with deadlines beside it.
#include <algorithm>
#include <array>

#include "kinds/owner.hpp"
#include "kinds/scripts.hpp"
#include "sim/model/transition_parts.hpp"

namespace holdfast::test {
namespace fair {
namespace {

using Millis = Keyspace::Millis;

constexpr std::size_t kFirst = 100;  // so many have a turn for each ahead of them

Millis number(std::string_view text) { return to_number(text).value(); }

/// One that may need Redisson's time for its turn: not of a named client of ours.
bool is_redissons(std::string_view owner) {
  const auto colon = owner.find(':');
  return wire::looks_like_owner(owner) && !wire::is_named_client(owner.substr(0, colon));
}

/// Who is next, once those whose deadline is over have gone.
struct Swept {
  std::optional<std::string> head{};
  std::optional<Millis> deadline{};
  std::string broken{};
};

Swept sweep(Keyspace& all, std::string_view queue, std::string_view deadlines) {
  for (;;) {
    Swept swept;
    const auto front = attempt([&] {
      const std::vector<std::string>& waiting = all.elements(queue);
      return waiting.empty() ? std::optional<std::string>() : std::optional(waiting.front());
    });
    if (!front.value) return swept.broken = front.refused, swept;
    swept.head = *front.value;
    if (!swept.head) return swept;
    const auto score = attempt([&] { return all.score(deadlines, *swept.head); });
    if (!score.value) return swept.broken = score.refused, swept;
    swept.deadline = *score.value;
    if (!swept.deadline || *swept.deadline > all.now()) return swept;
    all.erase_member(deadlines, *swept.head);
    all.pop_front(queue);
  }
}

struct Turns {
  Millis own, redissons;
};

/// `refused`: a message that is refused is an error, as of a release, which is sent again.
std::int64_t tell_next(ScriptHost& host, std::string_view queue, std::string_view channel, std::string_view way,
                       bool refused = false) {
  constexpr std::size_t kMost = 16;
  const auto found = attempt([&] { return host.keyspace().elements(queue); });
  const std::vector<std::string> waiting = found.value.value_or(std::vector<std::string>());
  for (std::size_t i = 0; i < std::min(waiting.size(), kMost); ++i) {
    const std::string next = std::string(channel) + ":" + waiting[i];
    const std::int64_t heard = refused ? tell(host, next, way, false) : tell_whom_it_can(host, next, way);
    if (heard > 0) return heard;
  }
  return 0;
}

Millis first(Millis rank) { return std::min(rank, static_cast<Millis>(kFirst)); }

/// How much later a deadline is in a queue in which each asks rarely.
Millis rarely(std::size_t others, const Turns& turns) {
  return std::max<Millis>(std::min(40 * static_cast<Millis>(others), turns.redissons) - turns.own, 0);
}

/// Whoever waits and is alive keeps its place.
void refresh(Keyspace& all, Args keys, std::string_view own, Millis taken_for, const Turns& turns) {
  const std::vector<std::string>& waiting = all.elements(keys[1]);
  const std::size_t last = std::min(waiting.size(), kFirst);
  const std::size_t ahead = static_cast<std::size_t>(
      std::find(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(last), own) - waiting.begin());
  const auto turns_ahead = static_cast<Millis>(ahead);
  Millis wanted = all.now() + taken_for + (turns_ahead + 2) * turns.own + rarely(all.scores(keys[2]).size() - 1, turns);
  if (ahead > 0 && ahead < kFirst && is_redissons(waiting[ahead - 1])) {
    const std::optional<Millis> its = all.score(keys[2], waiting[ahead - 1]);
    if (its) wanted = std::max(wanted, *its + 2 * turns.own + turns.redissons);
  }
  if (wanted > all.score(keys[2], own).value()) all.set_score(keys[2], own, wanted);
}

/// The lock is free: whoever is next has a turn from now, and no longer. True: its deadline is earlier than it was.
bool begin_turn(Keyspace& all, std::string_view deadlines, Swept& next, const Turns& turns) {
  if (!next.head || turns.own == 0) return false;
  const bool theirs = next.deadline && is_redissons(*next.head);
  const Millis latest = all.now() + (theirs ? turns.redissons : turns.own);
  if (next.deadline && *next.deadline <= latest) return false;
  const auto written = attempt([&] { return all.set_score(deadlines, *next.head, latest), true; });
  if (!written.value) return false;
  next.deadline = latest;
  return true;
}

void enter(Keyspace& all, Args keys, Args args, bool from_queue, Millis turn) {
  all.set_field(keys[0], args[1], "1");
  const auto lasting = attempt([&] { return all.expire(keys[0], args[0]); });
  if (!lasting.value) {
    all.erase_field(keys[0], args[1]);
    throw Refused(lasting.refused);
  }
  if (!from_queue) return;
  all.pop_front(keys[1]);
  all.erase_member(keys[2], args[1]);
  const std::vector<std::string> waiting = all.elements(keys[1]);
  for (std::size_t i = 0; i < std::min(waiting.size(), kFirst); ++i) {
    if (all.score(keys[2], waiting[i])) all.add_to_score(keys[2], waiting[i], -turn);
  }
}

void join(Keyspace& all, Args keys, std::string_view own, Millis taken_for, const Turns& turns) {
  const std::vector<std::string>& waiting = all.elements(keys[1]);
  std::optional<Millis> last;
  if (!waiting.empty() && waiting.back() != own) last = all.score(keys[2], waiting.back());
  const std::size_t others = all.scores(keys[2]).size();
  Millis chained = (last ? std::max<Millis>(*last - all.now(), 0) : taken_for) + all.now();
  if (others < kFirst) chained += turns.own;
  if (last && is_redissons(waiting.back())) chained += turns.redissons;
  if (const Millis later = rarely(others, turns); later > 0) {
    chained = std::max(chained, all.now() + taken_for + (first(static_cast<Millis>(others)) + 2) * turns.own + later);
  }
  all.set_score(keys[2], own, chained);
  all.erase_elements(keys[1], own);
  const auto joined = attempt([&] { return all.push(keys[1], own); });
  if (joined.value) return;
  all.erase_member(keys[2], own);
  throw Refused(joined.refused);
}

/// The queue ends a day after its last deadline; that is put off if half of it is over.
void keep_queue(Keyspace& all, Args keys, Millis taken_for) {
  constexpr Millis kDay = 86'400'000;
  if (all.remaining(keys[2]) >= taken_for + kDay / 2) return;
  const std::string kept = std::to_string(std::max<Millis>(all.scores(keys[2]).back().first - all.now(), 0) + kDay);
  all.expire(keys[1], kept);
  all.expire(keys[2], kept);
}

void acquire(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const std::string_view own = args[1];
  const Millis remaining = all.remaining(keys[0]);
  const bool is_free = remaining == -2;
  if (!is_free) {
    const auto mine = attempt([&] { return all.has_field(keys[0], own); });
    if (mine.value.value_or(false)) {
      all.expire(keys[0], args[0]);
      return put_null(reply);
    }
    lock_at(host, keys[0], remaining);
    if (!mine.value) throw Refused(mine.refused);
  }
  if (keys.size() == 1) return put_number(reply, is_free ? 1 : remaining);
  Swept next = sweep(all, keys[1], keys[2]);
  if (of_another_type(next.broken)) {
    throw Refused(
        "WRONGTYPE it is a fair lock whose queue is none: redisson_lock_queue must be a list, "
        "redisson_lock_timeout a sorted set");
  }
  if (!next.broken.empty()) throw Refused(next.broken);
  const Turns turns{number(args[2]), number(args[3])};
  const auto put_busy = [&](Millis left, std::int64_t others) {
    if (turns.own > 0) put_head(reply, '*', 3), put_number(reply, 1);
    put_number(reply, left);
    if (turns.own > 0) put_number(reply, others + 2);
  };
  std::int64_t others = 0;
  if (is_free && (!next.head || *next.head == own)) {
    enter(all, keys, args, next.head.has_value(), turns.own);
    return put_null(reply);
  }
  if (turns.own > 0) {
    const Millis taken_for = is_free ? 0 : remaining;
    const bool waits = all.score(keys[2], own).has_value();
    others = static_cast<std::int64_t>(all.scores(keys[2]).size()) - (waits ? 1 : 0);
    if (waits) {
      refresh(all, keys, own, taken_for, turns);
    } else {
      join(all, keys, own, taken_for, turns);
    }
    keep_queue(all, keys, taken_for);
  }
  if (!is_free) return put_busy(remaining, others);
  if (begin_turn(all, keys[2], next, turns)) {
    tell_next(host, keys[1], args[4], way_of(args, 5));
  } else if (turns.own > 0 && next.deadline && 4 * (*next.deadline - all.now()) < 3 * turns.own) {
    tell_whom_it_can(host, std::string(args[4]) + ":" + *next.head, way_of(args, 5));
  }
  put_busy(std::max<Millis>(next.deadline.value_or(all.now()) - all.now(), 1), others);
}

void release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (!host.keyspace().erase_field(keys[0], args[0])) return put_null(reply);
  if (keys.size() == 1) return put_number(reply, 0);
  Swept next = sweep(host.keyspace(), keys[1], keys[2]);
  begin_turn(host.keyspace(), keys[2], next, {number(args[2]), number(args[3])});
  put_number(reply, tell_next(host, keys[1], args[1], way_of(args, 4), true));
}

void leave(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const std::string_view own = args[0];
  std::size_t place = 0;
  const std::vector<std::string> waiting = all.elements(keys[1]);
  for (std::size_t i = 0; i < std::min(waiting.size(), kFirst); ++i) {
    if (waiting[i] == own) {
      place = place == 0 ? i + 1 : place;
    } else if (place > 0) {
      all.add_to_score(keys[2], waiting[i], -number(args[1]));
    }
  }
  const bool removed = all.erase_member(keys[2], own);
  if (std::ranges::find(waiting, own) == waiting.end()) return put_number(reply, removed ? 1 : 0);
  all.erase_elements(keys[1], own);
  if (place == 1 && all.find(keys[0]) == nullptr) {
    Swept next = sweep(all, keys[1], keys[2]);
    begin_turn(all, keys[2], next, {number(args[1]), number(args[3])});
    tell_next(host, keys[1], args[2], way_of(args, 4));
  }
  put_number(reply, 1);
}

void force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (host.keyspace().remaining(keys[0]) == -2) return put_number(reply, 0);
  const Found found = lock_at(host, keys[0], std::nullopt);
  if (found.lock == nullptr) throw Refused(found.refused);
  const std::string owner = found.lock->first;
  if (args.size() > 2 && args[2] != owner) return put_number(reply, 0);
  host.keyspace().erase_field(keys[0], owner);
  if (keys.size() == 1) return put_number(reply, 1);
  sweep(host.keyspace(), keys[1], keys[2]);
  tell_next(host, keys[1], args[0], args[1]);
  put_number(reply, 1);
}

void look_at(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Millis remaining = all.remaining(keys[0]);
  Found found;
  if (remaining != -2) {
    found = lock_at(host, keys[0], std::nullopt);
    if (found.lock == nullptr) throw Refused(found.refused);
  }
  const std::vector<std::string>& waiting = all.elements(keys[1]);
  if (found.lock == nullptr && waiting.empty()) return put_null(reply);
  const std::size_t told = std::min(waiting.size(), static_cast<std::size_t>(number(args[0])));
  std::string waiters;
  for (std::size_t i = 0; i < told; ++i) {
    const std::optional<Millis> deadline = all.score(keys[2], waiting[i]);
    put_text(waiters, waiting[i]);
    deadline ? put_number(waiters, *deadline - all.now()) : put_null(waiters);
  }
  put_head(reply, '*', 4 + 2 * told);
  found.lock != nullptr ? put_text(reply, found.lock->first) : put_null(reply);
  found.lock != nullptr ? put_text(reply, found.lock->second) : put_null(reply);
  put_number(reply, remaining);
  put_number(reply, static_cast<std::int64_t>(waiting.size()));
  reply += waiters;
}

}  // namespace
}  // namespace fair

std::span<const KnownScript> fair_scripts() {
  namespace scripts = wire::scripts;
  static constexpr std::array<KnownScript, 5> kScripts{{{&scripts::fair_acquire, fair::acquire},
                                                        {&scripts::fair_release, fair::release},
                                                        {&scripts::fair_leave, fair::leave},
                                                        {&scripts::fair_force_release, fair::force_release},
                                                        {&scripts::fair_look, fair::look_at}}};
  return kScripts;
}

}  // namespace holdfast::test
