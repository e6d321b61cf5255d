// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "kinds/owner.hpp"
#include "kinds/scripts.hpp"
#include "sim/model/transition_parts.hpp"

namespace holdfast::test {

namespace scripts = wire::scripts;

namespace {

// ---- what blocks an acquire of several ----

struct Blocker {
  std::size_t index = 0;  // from 1; 0: nothing
  Keyspace::Millis remaining = -2;

  void consider(std::size_t candidate, Keyspace::Millis its_remaining) {
    // Of several without an end it is the last.
    const bool longer = its_remaining == -1 || (remaining != -1 && its_remaining > remaining);
    if (index == 0 || longer) *this = {candidate, its_remaining};
  }
  void put(std::string& reply) const {
    put_head(reply, '*', 2);
    put_number(reply, static_cast<std::int64_t>(index));
    put_number(reply, remaining);
  }
};

// ---- the plain lock: a hash whose one field is the owner ----

bool is_count(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

}  // namespace

bool is_hold(std::string_view field) {
  constexpr std::string_view kWrite = ":write";
  return wire::looks_like_owner(field) ||
         (field.ends_with(kWrite) && wire::looks_like_owner(field.substr(0, field.size() - kWrite.size())));
}

namespace {

std::string name_of(const std::vector<Field>& fields) {
  const auto is_mode = [](const Field& each) {
    return each.first == "mode" && (each.second == "read" || each.second == "write");
  };
  const auto holds = std::ranges::count_if(fields, is_hold, &Field::first);
  if (std::ranges::any_of(fields, is_mode) && static_cast<std::size_t>(holds) + 1 == fields.size()) {
    return "a read-write lock";
  }
  return "a hash of " + std::to_string(fields.size()) + " fields that is no lock";
}

}  // namespace

Found look(ScriptHost& host, std::string_view key, std::optional<Keyspace::Millis> remaining) {
  if (!host.may("hlen")) return {nullptr, {}, "NOPERM"};
  const Keyspace::Value& value = *host.keyspace().find(key);
  const bool string = value.type == Keyspace::Type::string;
  if (value.type != Keyspace::Type::hash) {
    if (!host.may("type")) return {nullptr, "no hash", {}};
    if (string) return {nullptr, "a string, as a SimpleLock, a semaphore or a count-down latch is", {}};
    return {nullptr, value.type == Keyspace::Type::list ? "a list" : "a sorted set", {}};
  }
  const bool may_read = host.may("hgetall");
  if (value.fields.size() > 1) {
    const std::string unread = "a hash of " + std::to_string(value.fields.size()) + " fields that is no lock";
    return {nullptr, may_read ? name_of(value.fields) : unread, {}};
  }
  if (!may_read) return {nullptr, {}, "NOPERM"};
  const Field& only = value.fields.front();
  if (!wire::looks_like_holder(only.first) || !is_count(only.second)) {
    return {nullptr, "a hash of one field that is no lock", {}};
  }
  if (remaining == Keyspace::kNever) {
    return {nullptr, "a lock of " + only.first + " without an expiry, so nothing ends it; PEXPIRE gives it one", {}};
  }
  return {&only, {}, {}};
}

Found lock_at(ScriptHost& host, std::string_view key, std::optional<Keyspace::Millis> remaining,
              const std::string& which) {
  Found found = look(host, key, remaining);
  if (!found.other.empty()) throw Refused("WRONGTYPE " + which + " is " + found.other);
  return found;
}

namespace {

/// The lock that is in the way of an owner; empty: it is free, or this owner's.
std::optional<Found> in_the_way(ScriptHost& host, std::string_view key, std::string_view owner,
                                Keyspace::Millis remaining, const std::string& which = "it") {
  if (remaining == -2) return std::nullopt;
  const auto mine = attempt([&] { return host.keyspace().has_field(key, owner); });
  if (mine.value.value_or(false)) return std::nullopt;
  Found found = lock_at(host, key, remaining, which);
  if (!mine.value) throw Refused(mine.refused);
  return found;
}

void put_busy(ScriptHost& host, const Found& found, Args args, Keyspace::Millis remaining, std::string& reply) {
  if (args.size() < 3) return put_number(reply, remaining);
  put_head(reply, '*', found.lock != nullptr ? 4 : 3);
  put_number(reply, 1);
  put_number(reply, remaining);
  put_number(reply, count_listeners(host, args[2], way_of(args, 3)));
  if (args.size() > 4 && remaining > 0) {
    tell_whom_it_can(host, args[2], way_of(args, 4), "-" + std::to_string(remaining));
  }
  if (found.lock != nullptr) put_text(reply, found.lock->first);
}

/// As a counter: a number without needless zeros, that is not the last one yet.
bool grows(std::string_view value) {
  constexpr std::string_view kLast = "9223372036854775807";
  std::string_view digits = value;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const bool is_number = value == "0" || (!digits.empty() && digits.front() != '0' &&
                                          digits.find_first_not_of("0123456789") == digits.npos);
  return is_number && (digits.size() < kLast.size() || (digits.size() == kLast.size() && digits < kLast));
}

/// If it is refused, the counter says why, whatever else the server has against it.
std::int64_t next_token(ScriptHost& host, std::string_view counter) {
  const auto token = attempt([&] { return host.keyspace().increment(counter); });
  if (token.value) return *token.value;
  const auto text = attempt([&] { return host.keyspace().text(counter); });
  const bool stands_still = text.value && *text.value != nullptr && !grows(**text.value);
  if (!stands_still && !base::contains(token.refused, "WRONGTYPE")) throw Refused(token.refused);
  throw Refused("WRONGTYPE it is a fenced lock whose counter of tokens cannot grow");
}

void lock_acquire(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Keyspace::Millis remaining = all.remaining(keys[0]);
  const std::optional<Found> found = in_the_way(host, keys[0], args[1], remaining);
  if (found) return put_busy(host, *found, args, remaining, reply);
  std::optional<std::int64_t> token;
  if (keys.size() > 1) token = next_token(host, keys[1]);
  all.set_field(keys[0], args[1], "1");
  const auto lasting = attempt([&] { return all.expire(keys[0], args[0]); });
  if (!lasting.value) {
    all.erase_field(keys[0], args[1]);
    throw Refused(lasting.refused);
  }
  if (!token) return put_null(reply);
  put_head(reply, '*', 2);
  put_number(reply, -1);
  put_number(reply, *token);
}

void lock_acquire_all(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  Blocker blocker;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Keyspace::Millis remaining = all.remaining(keys[i]);
    const std::string which = "name " + std::to_string(i + 1) + " of " + std::to_string(keys.size());
    if (in_the_way(host, keys[i], args[1], remaining, which)) blocker.consider(i + 1, remaining);
  }
  if (blocker.index > 0) return blocker.put(reply);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto taken = attempt([&] {
      all.set_field(keys[i], args[1], "1");
      return all.expire(keys[i], args[0]);
    });
    if (taken.value) continue;
    for (std::size_t j = 0; j <= i; ++j) attempt([&] { return all.erase_field(keys[j], args[1]); });
    throw Refused(taken.refused);
  }
  put_null(reply);
}

/// The first that is free; an owner that has one of them has that.
void lock_acquire_any(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  std::size_t own = 0, free = 0, blocker = 0;  // from 1; 0: none
  Keyspace::Millis soonest = Keyspace::kNever;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Keyspace::Millis remaining = all.remaining(keys[i]);
    const std::string which = "name " + std::to_string(i + 1) + " of " + std::to_string(keys.size());
    if (in_the_way(host, keys[i], args[1], remaining, which)) {
      const bool sooner = remaining >= 0 && (soonest < 0 || remaining < soonest);
      if (blocker > 0 && !sooner) continue;
      blocker = i + 1;
      soonest = remaining;
    } else if (std::size_t& found = remaining == -2 ? free : own; found == 0) {
      found = i + 1;
    }
  }
  const std::size_t taken = own > 0 ? own : free;
  if (taken == 0) {
    put_head(reply, '*', args.size() > 2 ? 3 : 2);
    put_number(reply, static_cast<std::int64_t>(blocker));
    put_number(reply, soonest);
    if (args.size() > 2) put_number(reply, count_listeners(host, args[2], way_of(args, 3)));
    return;
  }
  const std::string_view key = keys[taken - 1];
  all.set_field(key, args[1], "1");
  const auto lasting = attempt([&] { return all.expire(key, args[0]); });
  if (!lasting.value) {
    all.erase_field(key, args[1]);
    throw Refused(lasting.refused);
  }
  put_head(reply, '*', 2);
  put_number(reply, -1);
  put_number(reply, static_cast<std::int64_t>(taken));
}

void lock_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (!host.keyspace().erase_field(keys[0], args[0])) return put_null(reply);
  put_number(reply, tell(host, args[1], way_of(args, 2), false));
}

struct GivenBack {
  std::size_t released = 0;
  std::int64_t heard = 0;
};
/// Those that this owner has. Throws if one of them, or its message, is refused.
GivenBack give_back(ScriptHost& host, Args keys, Args args) {
  GivenBack given;
  std::string refused;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto gone = attempt([&] { return host.keyspace().erase_field(keys[i], args[0]); });
    if (!gone.value && !of_another_type(gone.refused)) refused = gone.refused;
    if (!gone.value.value_or(false)) continue;
    ++given.released;
    const auto told = attempt([&] { return tell(host, args[1 + i], way_of(args, 1 + keys.size()), true); });
    if (!told.value) refused = told.refused;
    given.heard += told.value.value_or(0);
  }
  if (!refused.empty()) throw Refused(refused);
  return given;
}

void lock_release_all(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const GivenBack given = give_back(host, keys, args);
  given.released < keys.size() ? put_null(reply) : put_number(reply, given.heard);
}

void lock_release_any(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const GivenBack given = give_back(host, keys, args);
  given.released == 0 ? put_null(reply) : put_number(reply, given.heard);
}

void lock_force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (!take_lock(host, keys[0], args, 2)) return put_number(reply, 0);
  tell_whom_it_can(host, args[0], args[1]);
  put_number(reply, 1);
}

void lock_look(ScriptHost& host, Args keys, Args, std::string& reply) {
  if (host.keyspace().remaining(keys[0]) == -2) return put_null(reply);
  const Found found = lock_at(host, keys[0], std::nullopt);
  if (found.lock == nullptr) throw Refused(found.refused);
  put_head(reply, '*', 2);
  put_text(reply, found.lock->first);
  put_text(reply, found.lock->second);
}

/// `owned` says whether an owner has a key, and may refuse.
template <class Owned>
void renew(ScriptHost& host, Args keys, Args args, std::string& reply, Owned owned) {
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto has = attempt([&] { return owned(keys[i], args[i + 1]); });
    if (!has.value && !of_another_type(has.refused)) throw Refused(has.refused);
    if (has.value.value_or(false)) {
      host.keyspace().expire(keys[i], args[0]);
    } else {
      lost.push_back(i + 1);
    }
  }
  put_indices(reply, lost);
}

void lock_renew(ScriptHost& host, Args keys, Args args, std::string& reply) {
  renew(host, keys, args, reply,
        [&](std::string_view key, std::string_view owner) { return host.keyspace().has_field(key, owner); });
}

// ---- the SET NX PX family: a string that is the owner ----

bool has_text(ScriptHost& host, std::string_view key, std::string_view owner) {
  const std::string* const text = host.keyspace().text(key);
  return text != nullptr && *text == owner;
}

bool taken_by_another(ScriptHost& host, std::string_view key, std::string_view owner) {
  const std::string* const text = host.keyspace().text(key);
  return text != nullptr && *text != owner;
}

void simple_acquire(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (taken_by_another(host, keys[0], args[1])) return put_number(reply, host.keyspace().remaining(keys[0]));
  host.keyspace().set(keys[0], args[1], args[0]);
  put_null(reply);
}

void simple_acquire_all(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  Blocker blocker;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (taken_by_another(host, keys[i], args[1])) blocker.consider(i + 1, all.remaining(keys[i]));
  }
  if (blocker.index > 0) return blocker.put(reply);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    try {
      all.set(keys[i], args[1], args[0]);
    } catch (const Refused&) {
      for (std::size_t j = 0; j < i; ++j) all.erase(keys[j]);
      throw;
    }
  }
  put_null(reply);
}

void simple_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (!has_text(host, keys[0], args[0])) return put_null(reply);
  host.keyspace().erase(keys[0]);
  put_number(reply, tell_whom_it_can(host, args[1], way_of(args, 2)));
}

void simple_release_all(ScriptHost& host, Args keys, Args args, std::string& reply) {
  std::size_t released = 0;
  std::int64_t heard = 0;
  std::string refused;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto has = attempt([&] { return has_text(host, keys[i], args[0]); });
    if (!has.value && !of_another_type(has.refused)) refused = has.refused;
    if (!has.value.value_or(false)) continue;
    host.keyspace().erase(keys[i]);
    ++released;
    heard += tell_whom_it_can(host, args[1 + i], way_of(args, 1 + keys.size()));
  }
  if (!refused.empty()) throw Refused(refused);
  if (released < keys.size()) return put_null(reply);
  put_number(reply, heard);
}

void simple_force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const std::string* const text = host.keyspace().text(keys[0]);
  const bool named = args.size() > 2;
  if (text == nullptr || (named && *text != args[2])) return put_number(reply, 0);
  if (!named && host.keyspace().remaining(keys[0]) == Keyspace::kNever) {
    throw Refused("WRONGTYPE it is a string without an expiry, perhaps no lock: name the owner that it must have");
  }
  host.keyspace().erase(keys[0]);
  tell_whom_it_can(host, args[0], args[1]);
  put_number(reply, 1);
}

void simple_renew(ScriptHost& host, Args keys, Args args, std::string& reply) {
  renew(host, keys, args, reply,
        [&](std::string_view key, std::string_view owner) { return has_text(host, key, owner); });
}

constexpr std::array<KnownScript, 15> kScripts{{{&scripts::lock_acquire, lock_acquire},
                                                {&scripts::lock_acquire_all, lock_acquire_all},
                                                {&scripts::lock_acquire_any, lock_acquire_any},
                                                {&scripts::lock_release, lock_release},
                                                {&scripts::lock_release_all, lock_release_all},
                                                {&scripts::lock_release_any, lock_release_any},
                                                {&scripts::lock_force_release, lock_force_release},
                                                {&scripts::lock_look, lock_look},
                                                {&scripts::lock_renew, lock_renew},
                                                {&scripts::simple_acquire, simple_acquire},
                                                {&scripts::simple_acquire_all, simple_acquire_all},
                                                {&scripts::simple_release, simple_release},
                                                {&scripts::simple_release_all, simple_release_all},
                                                {&scripts::simple_force_release, simple_force_release},
                                                {&scripts::simple_renew, simple_renew}}};

std::optional<KnownScript> find(std::string_view base::Script::* what, std::string_view wanted) {
  for (const std::span<const KnownScript> some :
       {std::span<const KnownScript>(kScripts), read_write_scripts(), fair_scripts(), spin_scripts(),
        counting_scripts(), permits_scripts()}) {
    for (const KnownScript& each : some) {
      if (each.script->*what == wanted) return each;
      const base::Script* const form = each.script->of_first_key;
      if (form != nullptr && form->*what == wanted) return KnownScript{each.script, each.run, true};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<KnownScript> script_of_sha1(std::string_view sha1) { return find(&base::Script::sha1, sha1); }
std::optional<KnownScript> script_of_text(std::string_view text) { return find(&base::Script::text, text); }

}  // namespace holdfast::test
