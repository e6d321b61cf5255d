// SPDX-License-Identifier: Apache-2.0
// The transitions of the read-write lock: a hash of `mode` and of holds; each reader has a key that lives as long as
// its lease.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "kinds/scripts.hpp"
#include "sim/model/transition_parts.hpp"

namespace holdfast::test {
namespace read_write {
namespace {

namespace scripts = wire::scripts;
using Millis = Keyspace::Millis;

constexpr std::string_view kWrite = ":write";
constexpr std::int64_t kMostHolds = 10'000;

std::string writer(std::string_view owner) { return std::string(owner).append(kWrite); }

/// The reader of a field, or the writer.
std::string_view owner_of(std::string_view field) {
  if (field.ends_with(kWrite)) field.remove_suffix(kWrite.size());
  return field;
}

/// As Lua reads it, into whole milliseconds; throws where Lua compares or adds what is no number.
Millis lease_of(std::string_view text) {
  const std::string copy(text);  // strtod, since LLVM's library reads no fractions by from_chars
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size()) throw Refused("ERR user_script: no number, in a script");
  return value > 9e18 ? 9'000'000'000'000'000'000 : static_cast<Millis>(value);
}

std::int64_t count_of(const std::string& text) { return to_number(text).value_or(0); }

std::vector<Field> fields_of(ScriptHost& host, std::string_view key) {
  if (!host.may("hgetall")) throw Refused("NOPERM in a script");
  host.keyspace().count_fields(key);
  const Keyspace::Value* const value = host.keyspace().find(key);
  return value == nullptr ? std::vector<Field>() : value->fields;
}

std::string hold_key(std::string_view key, std::string_view owner, std::int64_t number) {
  const bool tagged = key.find('{') != std::string_view::npos;
  std::string out = tagged ? std::string(key) : "{" + std::string(key) + "}";
  return out.append(":").append(owner).append(":rwlock_timeout:") + std::to_string(number);
}

/// The longest lease of those who read; -2: nobody does.
Millis longest_read(ScriptHost& host, std::string_view key, const std::vector<Field>& fields) {
  Millis longest = -2;
  for (const auto& [field, value] : fields) {
    if (field == "mode" || field.ends_with(kWrite)) continue;
    const std::int64_t count = count_of(value);
    for (std::int64_t hold = count; hold >= std::max<std::int64_t>(1, count - kMostHolds + 1); --hold) {
      const std::string name = hold_key(key, field, hold);
      const std::array<std::string_view, 2> both{key, name};
      const Millis left = host.keyspace().remaining(name);
      const bool uncertain = left == -2 && !(host.may("exists") && host.has_all(both));
      longest = std::max(longest, uncertain ? host.keyspace().remaining(key) : left);
    }
  }
  return longest;
}

void lasts(ScriptHost& host, std::string_view key, Millis time) { host.keyspace().expire(key, std::to_string(time)); }

struct Form {
  std::string mode{};  // empty: it is none, or this user may not ask
  std::vector<Field> fields{};
  std::string other{}, refused{};

  bool has(std::string_view field) const {
    return std::ranges::any_of(fields, [field](const Field& each) { return each.first == field; });
  }
};

Form form_of(ScriptHost& host, std::string_view key, std::optional<Millis> remaining) {
  Form form;
  const auto size = attempt([&] {
    if (!host.may("hlen")) throw Refused("NOPERM in a script");
    return host.keyspace().count_fields(key);
  });
  if (size.value.value_or(0) > 1)
    form.fields = attempt([&] { return fields_of(host, key); }).value.value_or(std::vector<Field>());
  const auto mode = std::ranges::find(form.fields, "mode", &Field::first);
  const auto holds = std::ranges::count_if(form.fields, is_hold, &Field::first);
  const bool known = mode != form.fields.end() && (mode->second == "read" || mode->second == "write");
  if (known && holds > 0 && static_cast<std::size_t>(holds) + 1 == form.fields.size()) {
    form.mode = mode->second;
    if (remaining == Keyspace::kNever)
      form.other = "a read-write lock without an expiry, so nothing ends it; PEXPIRE gives it one";
    return form;
  }
  form.fields.clear();
  const Found found = look(host, key, remaining);
  form.other = found.lock != nullptr ? "a lock of another kind, with one owner at a time" : found.other;
  form.refused = found.refused;
  return form;
}

void put_busy(ScriptHost& host, const Form& form, Args args, Millis remaining, std::string& reply) {
  if (!form.other.empty()) throw Refused("WRONGTYPE it is " + form.other);
  if (args.size() < 3) return put_number(reply, remaining);
  std::string_view holder;
  for (const Field& each : form.fields) {
    const std::string_view who = owner_of(each.first);
    const bool writes = who != each.first;
    if (who != "mode" && (writes || holder.empty() || holder == args[1])) holder = who;
  }
  put_head(reply, '*', holder.empty() ? 3 : 4);
  put_number(reply, 1);
  put_number(reply, remaining);
  put_number(reply, count_listeners(host, args[2], way_of(args, 3)));
  if (!holder.empty()) put_text(reply, holder);
}

void acquire_read(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Millis remaining = all.remaining(keys[0]);
  const bool fresh = remaining == -2;
  if (!fresh) {
    const Form form = form_of(host, keys[0], remaining);
    if (!form.refused.empty()) throw Refused(form.refused);
    if (form.mode != "read" && !form.has(writer(args[1]))) return put_busy(host, form, args, remaining, reply);
  }
  if (keys.size() > 1) all.set(keys[1], "1", args[0]);
  if (fresh) all.set_field(keys[0], "mode", "read");
  all.set_field(keys[0], args[1], "1");
  if (lease_of(args[0]) > remaining) all.expire(keys[0], args[0]);
  if (fresh || args.size() < 3) return put_null(reply);
  put_head(reply, '*', 2);
  put_number(reply, -2);
  put_number(reply, std::max<std::int64_t>(count_listeners(host, args[2], way_of(args, 3)), 0));
}

void acquire_write(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Millis remaining = all.remaining(keys[0]);
  const bool fresh = remaining == -2;
  const std::string field = writer(args[1]);
  if (!fresh) {
    const Form form = form_of(host, keys[0], remaining);
    if (!form.refused.empty()) throw Refused(form.refused);
    if (!form.has(field)) return put_busy(host, form, args, remaining, reply);
  }
  if (fresh) {
    all.set_field(keys[0], "mode", "write");
    all.set_field(keys[0], field, "1");
  }
  const bool longer = lease_of(args[0]) > remaining;
  const auto lasting = attempt([&] { return longer && all.expire(keys[0], args[0]); });
  if (!lasting.value) {
    if (fresh) all.erase(keys[0]);
    throw Refused(lasting.refused);
  }
  put_null(reply);
}

void downgrade(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const std::string field = writer(args[1]);
  if (!all.has_field(keys[0], field) && !all.has_field(keys[0], args[2])) return put_null(reply);
  if (keys.size() > 1) all.set(keys[1], "1", args[0]);
  all.set_field(keys[0], "mode", "read");
  all.set_field(keys[0], args[2], "1");
  const bool gone = all.erase_field(keys[0], field);
  lasts(host, keys[0], longest_read(host, keys[0], fields_of(host, keys[0])));
  put_number(reply, gone ? tell(host, args[3], way_of(args, 4), false, "1") : 0);
}

void release_read(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  if (!all.erase_field(keys[0], args[0])) return put_null(reply);
  if (keys.size() > 1) all.erase(keys[1]);
  const bool alone = host.may("hlen") && all.count_fields(keys[0]) <= 1;  // of what is left: `mode`
  const std::vector<Field> left = alone ? std::vector<Field>() : fields_of(host, keys[0]);
  const bool writing = std::ranges::any_of(left, [](const Field& each) { return each.first.ends_with(kWrite); });
  const Millis longest = longest_read(host, keys[0], left);
  if (longest > 0 && !(writing && longest <= all.remaining(keys[0]))) lasts(host, keys[0], longest);
  if (writing || longest > 0) return put_number(reply, 0);
  all.erase(keys[0]);
  put_number(reply, tell(host, args[1], way_of(args, 2), false));
}

void release_write(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  if (!all.erase_field(keys[0], writer(args[0]))) return put_null(reply);
  const Millis longest = longest_read(host, keys[0], fields_of(host, keys[0]));
  if (longest > 0) {
    all.set_field(keys[0], "mode", "read");
    lasts(host, keys[0], longest);
  } else {
    all.erase(keys[0]);
  }
  put_number(reply, tell(host, args[1], way_of(args, 2), false, "1"));
}

void force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  if (all.remaining(keys[0]) == -2) return put_number(reply, 0);
  const Form form = form_of(host, keys[0], std::nullopt);
  if (!form.other.empty()) throw Refused("WRONGTYPE it is " + form.other);
  if (!form.refused.empty()) throw Refused(form.refused);
  bool taken = false;
  for (const auto& [field, value] : form.fields) {
    const std::string_view who = owner_of(field);
    if (field == "mode" || (args.size() > 2 && args[2] != who)) continue;
    taken = all.erase_field(keys[0], field) || taken;
    const std::int64_t holds = who == field ? std::min(count_of(value), kMostHolds) : 0;
    for (std::int64_t hold = 1; hold <= holds; ++hold) all.erase(hold_key(keys[0], field, hold));
  }
  if (!taken) return put_number(reply, 0);
  const Millis longest = longest_read(host, keys[0], fields_of(host, keys[0]));
  if (longest > 0) {
    lasts(host, keys[0], longest);
  } else {
    all.erase(keys[0]);
    tell_whom_it_can(host, args[0], args[1], form.mode == "write" ? "1" : "0");
  }
  put_number(reply, 1);
}

void look_at(ScriptHost& host, Args keys, Args, std::string& reply) {
  const Millis remaining = host.keyspace().remaining(keys[0]);
  if (remaining == -2) return put_null(reply);
  const Form form = form_of(host, keys[0], std::nullopt);
  if (!form.other.empty()) throw Refused("WRONGTYPE it is " + form.other);
  if (!form.refused.empty()) throw Refused(form.refused);
  put_head(reply, '*', 2 + 3 * (form.fields.size() - 1));
  put_text(reply, form.mode);
  put_number(reply, remaining);
  for (const Field& each : form.fields) {
    if (each.first == "mode") continue;
    put_text(reply, each.first);
    put_text(reply, each.second);
    put_number(reply, each.first.ends_with(kWrite) ? remaining : longest_read(host, keys[0], {each}));
  }
}

void renew(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const std::size_t count = args.size() - 1;
  std::size_t next_hold = count;
  std::vector<std::size_t> lost;
  std::string refused;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i], field = args[i + 1];
    const bool reads = !field.ends_with(kWrite);
    const std::size_t hold = reads ? next_hold++ : keys.size();
    const auto has = attempt([&] { return all.has_field(key, field); });
    if (!has.value && !of_another_type(has.refused)) refused = has.refused;
    if (has.value.value_or(false)) {
      lease_of(args[0]);
      if (hold < keys.size() && !all.expire(keys[hold], args[0])) {
        const auto set = attempt([&] { return all.set(keys[hold], "1", args[0]), true; });
        if (!set.value) refused = set.refused;
      }
      bool extends = all.remaining(key) < lease_of(args[0]);
      if (!extends) {
        if (!host.may("hlen")) throw Refused("NOPERM in a script");
        extends = all.count_fields(key) == 2;
      }
      if (extends) all.expire(key, args[0]);
    } else if (has.value || of_another_type(has.refused)) {
      lost.push_back(i + 1);
    }
  }
  if (!refused.empty()) throw Refused(refused);
  put_indices(reply, lost);
}

}  // namespace
}  // namespace read_write

std::span<const KnownScript> read_write_scripts() {
  namespace scripts = wire::scripts;
  static constexpr std::array<KnownScript, 8> kScripts{{{&scripts::read_write_acquire_read, read_write::acquire_read},
                                                        {&scripts::read_write_acquire_write, read_write::acquire_write},
                                                        {&scripts::read_write_downgrade, read_write::downgrade},
                                                        {&scripts::read_write_release_read, read_write::release_read},
                                                        {&scripts::read_write_release_write, read_write::release_write},
                                                        {&scripts::read_write_force_release, read_write::force_release},
                                                        {&scripts::read_write_look, read_write::look_at},
                                                        {&scripts::read_write_renew, read_write::renew}}};
  return kScripts;
}

}  // namespace holdfast::test
