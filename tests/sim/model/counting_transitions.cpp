// SPDX-License-Identifier: Apache-2.0
// The transitions of the semaphore and of the count-down latch: a number, and what has been done to it already.
#include <algorithm>
#include <array>

#include "kinds/scripts.hpp"
#include "sim/model/counting.hpp"

namespace holdfast::test {

std::int64_t number_of(std::string_view text) { return to_number(text).value(); }

std::optional<std::int64_t> count_at(ScriptHost& host, std::string_view key) {
  constexpr std::size_t kMostDigits = 16;
  const auto text = attempt([&] {
    const std::string* const found = host.keyspace().text(key);
    return found == nullptr ? std::optional<std::string>() : std::optional(*found);
  });
  if (!text.value) {
    if (!of_another_type(text.refused)) throw Refused(text.refused);
    const Found found = look(host, key, host.keyspace().remaining(key));
    if (found.lock != nullptr) throw Refused("WRONGTYPE it is a lock of another kind, with one owner at a time");
    throw Refused(found.other.empty() ? found.refused : "WRONGTYPE it is " + found.other);
  }
  if (!*text.value) return std::nullopt;
  const std::string& digits = **text.value;
  const auto number = to_number(digits);
  if (!number || digits.size() > kMostDigits || std::to_string(*number) != digits) {
    throw Refused("WRONGTYPE it is a string that is no number");
  }
  return number;
}

std::int64_t tell_of_permits(ScriptHost& host, std::optional<std::int64_t> count, std::string_view channel,
                             std::string_view way) {
  return count.value_or(0) > 0 ? tell_whom_it_can(host, channel, way, std::to_string(*count)) : 0;
}

namespace counting {
namespace {

// ---- the semaphore ----

void acquire(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 1, args[1]);
  if (once.before(reply)) return;
  const auto count = count_at(host, keys[0]);
  const std::int64_t wanted = number_of(args[0]);
  if (!count || *count < wanted) {
    const std::int64_t left = count ? -1 : -2;
    if (args.size() < 3) return put_number(reply, left);
    put_head(reply, '*', 3);
    put_number(reply, 1);
    put_number(reply, left);
    return put_number(reply, count_listeners(host, args[2], way_of(args, 3)));
  }
  once.keep("", false);
  once.carry_out([&] { host.keyspace().increment(keys[0], -wanted); });
  put_null(reply);
}

void release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Once once(all, keys, 1, args[1]);
  if (once.before(reply)) return;
  if (keys.size() > 2) {
    const std::string* const granted = all.text(keys[2]);
    const bool unknown = granted == nullptr;
    if (unknown) attempt([&] { return all.set(keys[2], "-1", args[1]), true; });
    if (unknown || !granted->empty()) return put_null(reply);
  }
  const auto count = count_at(host, keys[0]);
  if (!count) {
    once.keep("", true);
    return put_null(reply);
  }
  const std::int64_t back = number_of(args[0]);
  const std::int64_t heard = tell_of_permits(host, *count + back, args[2], way_of(args, 3));
  once.keep(std::to_string(heard), true);
  once.carry_out([&] { all.increment(keys[0], back); });
  put_number(reply, heard);
}

void add(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 1, args[1]);
  if (once.before(reply)) return;
  const std::int64_t more = number_of(args[0]);
  const std::int64_t count = count_at(host, keys[0]).value_or(0) + more;
  tell_of_permits(host, count, args[2], way_of(args, 3));
  once.keep(std::to_string(count), true);
  once.carry_out([&] { host.keyspace().increment(keys[0], more); });
  put_number(reply, count);
}

void drain(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 1, args[0]);
  if (once.before(reply)) return;
  const std::int64_t count = count_at(host, keys[0]).value_or(0);
  if (count == 0) return put_number(reply, 0);
  once.keep(std::to_string(count), false);
  once.carry_out([&] { host.keyspace().increment(keys[0], -count); });
  put_number(reply, count);
}

void set(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Once once(all, keys, 1, args[1]);
  if (once.before(reply)) return;
  if (count_at(host, keys[0])) return put_number(reply, 0);
  once.keep("1", false);
  once.carry_out([&] { args[2] == "0" ? all.set(keys[0], args[0]) : all.set(keys[0], args[0], args[2]); });
  tell_of_permits(host, number_of(args[0]), args[3], way_of(args, 4));
  put_number(reply, 1);
}

// ---- the latch ----

constexpr const char* kOpen = "0";
constexpr const char* kClosed = "1";

void set_latch(ScriptHost& host, Args keys, Args args, std::string& reply) {
  if (number_of(args[0]) < 1) throw Refused("ERR a latch counts down from 1 at least");
  const Once once(host.keyspace(), keys, 1, args[1]);
  if (once.before(reply)) return;
  if (count_at(host, keys[0])) return put_number(reply, 0);
  once.keep("1", false);
  once.carry_out([&] { host.keyspace().set(keys[0], args[0]); });
  tell_whom_it_can(host, args[2], way_of(args, 3), kClosed);
  put_number(reply, 1);
}

void count_down(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Once once(all, keys, 1, args[1]);
  if (once.before(reply)) return;
  const std::int64_t count = count_at(host, keys[0]).value_or(0);
  const std::int64_t steps = number_of(args[0]);
  const std::int64_t left = std::max<std::int64_t>(count - steps, 0);
  once.keep(std::to_string(left), true);
  once.carry_out(
      [&] { left > 0 ? static_cast<void>(all.increment(keys[0], -steps)) : static_cast<void>(all.erase(keys[0])); });
  if (left == 0 && count > 0) tell_whom_it_can(host, args[2], way_of(args, 3), kOpen);
  put_number(reply, left);
}

void remove(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 1, args[0]);
  if (once.before(reply)) return;
  if (!count_at(host, keys[0])) return put_number(reply, 0);
  once.keep("1", true);
  once.carry_out([&] { host.keyspace().erase(keys[0]); });
  tell_whom_it_can(host, args[1], way_of(args, 2), kClosed);
  put_number(reply, 1);
}

}  // namespace
}  // namespace counting

std::span<const KnownScript> counting_scripts() {
  namespace scripts = wire::scripts;
  static constexpr std::array<KnownScript, 8> kScripts{{{&scripts::semaphore_acquire, counting::acquire},
                                                        {&scripts::semaphore_release, counting::release},
                                                        {&scripts::semaphore_add, counting::add},
                                                        {&scripts::semaphore_drain, counting::drain},
                                                        {&scripts::semaphore_set, counting::set},
                                                        {&scripts::latch_set, counting::set_latch},
                                                        {&scripts::latch_count_down, counting::count_down},
                                                        {&scripts::latch_remove, counting::remove}}};
  return kScripts;
}

}  // namespace holdfast::test
