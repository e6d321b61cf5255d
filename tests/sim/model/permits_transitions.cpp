// SPDX-License-Identifier: Apache-2.0
// The transitions of the leased semaphore: a number, and beside it the permits that are held, by the end of their
// leases.
#include <algorithm>
#include <array>

#include "kinds/scripts.hpp"
#include "sim/model/counting.hpp"

namespace holdfast::test {
namespace permits {
namespace {

using Millis = Keyspace::Millis;
constexpr Millis kForever = 922'337'203'685'477;  // Redisson's end of a lease that has none
constexpr std::size_t kIdSize = 16;

Millis at_most_ten_years(Millis time) { return std::min<Millis>(time, 315'360'000'000); }

class Semaphore {
 public:
  /// Gives back those whose leases are over.
  Semaphore(ScriptHost& host, Args keys)
      : host_(host), all_(host.keyspace()), key_(keys[0]), leases_(keys[1]), count_(count_at(host, key_)) {
    const auto over = attempt([&] { return those_until(all_.now()); });
    if (!over.value) {
      broken_ = of_another_type(over.refused) ? "WRONGTYPE it is a leased semaphore whose permits are no sorted set"
                                              : over.refused;
    } else if (!over.value->empty()) {
      give_back(*over.value);
      if (broken_.empty()) swept_ = true;
    }
  }

  std::optional<std::int64_t> count() const { return count_; }
  const std::string& broken() const { return broken_; }
  void unless_broken() const {
    if (!broken_.empty()) throw Refused(broken_);
  }
  bool swept() const { return swept_; }
  bool has(std::string_view id) { return all_.score(leases_, id).has_value(); }
  std::int64_t held() { return static_cast<std::int64_t>(all_.scores(leases_).size()); }

  /// How many of these have been given back, each once.
  std::int64_t give_back(const std::vector<std::string>& ids) {
    attempt([&] { return all_.erase_member(leases_, ""); });
    const auto back = attempt([&] {
      std::int64_t given = 0;
      if (count_) all_.increment(key_, static_cast<std::int64_t>(ids.size()));
      for (const std::string& id : ids) given += all_.erase_member(leases_, id) ? 1 : 0;
      if (count_) all_.increment(key_, given - static_cast<std::int64_t>(ids.size()));
      return given;
    });
    if (!back.value) {
      broken_ = back.refused;
    } else if (count_) {
      *count_ += *back.value;
    }
    return back.value.value_or(0);
  }

  /// These ids, of which some may be held already. False: there are not as many.
  bool take(Args ids, std::string_view lease) {
    const auto fresh = std::ranges::count_if(ids, [this](std::string_view id) { return !has(id); });
    if (fresh > 0 && count_.value_or(-1) < fresh) return false;
    if (fresh > 0) all_.increment(key_, -fresh);
    const Millis end = end_of(all_.now(), lease);
    for (const std::string_view id : ids) all_.set_score(leases_, id, end);
    const Millis remaining = all_.remaining(key_);
    if (remaining > 0 || all_.remaining(leases_) > 0)
      all_.expire(leases_, std::to_string(
                               std::max(remaining, at_most_ten_years(all_.scores(leases_).back().first - all_.now()))));
    if (count_) *count_ -= fresh;
    return true;
  }

  /// The number becomes this, if it is another; what was done is remembered first. `lives`: empty, or an end that one
  /// that is made has.
  void become(std::int64_t count, const Once& once, bool gives, const std::string& said, std::string_view lives = {}) {
    once.keep(said, gives);
    once.carry_out([&] {
      if (count_ || gives) {
        all_.increment(key_, count - count_.value_or(0));
      } else if (lives.empty()) {
        all_.set(key_, std::to_string(count));
      } else {
        all_.set(key_, std::to_string(count), lives);
      }
    });
    count_ = count;
  }

  void remove(const Once& once) {
    once.keep("1", true);
    once.carry_out([&] { all_.erase(key_); });
  }

  /// An earlier end becomes this one.
  void keep_for(std::string_view lives) {
    const Millis remaining = all_.remaining(key_);
    if (remaining >= 0 && remaining < number_of(lives)) all_.expire(key_, lives);
  }

  std::int64_t tell(std::string_view channel, std::string_view way) {
    return tell_of_permits(host_, count_, channel, way);
  }

  /// Until the first lease is over, of those that end.
  Millis first_end() {
    const auto& held = all_.scores(leases_);
    if (held.empty() || held.front().first >= kForever) return -1;
    return std::max<Millis>(held.front().first - all_.now(), 1);
  }

  static Millis end_of(Millis now, std::string_view lease) { return lease == "-1" ? kForever : now + number_of(lease); }

 private:
  std::vector<std::string> those_until(Millis time) {
    std::vector<std::string> ids;
    for (const auto& [end, id] : all_.scores(leases_)) {
      if (end >= 0 && end <= time) ids.push_back(id);
    }
    return ids;
  }

  ScriptHost& host_;
  Keyspace& all_;
  const std::string_view key_, leases_;
  std::optional<std::int64_t> count_;
  std::string broken_{};
  bool swept_ = false;
};

std::vector<std::string> held_of(Semaphore& semaphore, Args ids) {
  std::vector<std::string> held;
  for (const std::string_view id : ids) {
    if (semaphore.has(id)) held.emplace_back(id);
  }
  return held;
}

void acquire(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const Args ids = args.subspan(4);
  const bool granted = semaphore.take(ids, args[0]);
  if (semaphore.swept()) semaphore.tell(args[1], args[2]);
  if (granted) {
    put_head(reply, '*', 1 + ids.size());
    put_number(reply, -1);
    for (const std::string_view id : ids) put_text(reply, id);
    return;
  }
  const Millis left = semaphore.count() ? semaphore.first_end() : -2;
  const std::int64_t all = semaphore.count() ? *semaphore.count() + semaphore.held() : 0;
  const bool too_few = semaphore.count() && all < static_cast<std::int64_t>(ids.size());
  if (args[3].empty() && !too_few) return put_number(reply, left);
  put_head(reply, '*', too_few ? 4 : 3);
  put_number(reply, 1);
  put_number(reply, left);
  put_number(reply, too_few ? -1 : count_listeners(host, args[1], args[3]));
  if (too_few) put_number(reply, all);
}

void release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const Args ids = args.subspan(2);
  const std::vector<std::string> back = held_of(semaphore, ids);
  const std::int64_t given = back.empty() ? 0 : semaphore.give_back(back);
  semaphore.unless_broken();
  std::int64_t heard = 0;
  if (semaphore.swept() || given > 0) heard = semaphore.tell(args[0], args[1]);
  back.size() == ids.size() ? put_number(reply, heard) : put_null(reply);
}

void force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  std::vector<std::string> back = held_of(semaphore, args.subspan(2));
  if (args.size() == 2) {
    for (const auto& [end, id] : host.keyspace().scores(keys[1])) back.push_back(id);
  }
  const std::int64_t given = back.empty() ? 0 : semaphore.give_back(back);
  semaphore.unless_broken();
  if (semaphore.swept() || given > 0) semaphore.tell(args[0], args[1]);
  put_number(reply, given > 0 ? 1 : 0);
}

void renew(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Keyspace& all = host.keyspace();
  const Millis end = Semaphore::end_of(all.now(), args[0]);
  std::vector<std::size_t> lost;
  std::string_view last_leases, last_id;
  bool written = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view ids = args[i + 1];
    bool held = !ids.empty();
    for (std::size_t at = 0; at < ids.size(); at += kIdSize) {
      const auto score = attempt([&] { return all.score(keys[i], ids.substr(at, kIdSize)); });
      if (!score.value && !of_another_type(score.refused)) throw Refused(score.refused);
      held = held && score.value && *score.value && **score.value > all.now();
    }
    if (!held) {
      lost.push_back(i + 1);
      continue;
    }
    all.erase_member(keys[i], "");
    for (std::size_t at = 0; at < ids.size(); at += kIdSize) {
      last_leases = keys[i], last_id = ids.substr(at, kIdSize);
      written = written || all.score(last_leases, last_id) != end;
      all.set_score(last_leases, last_id, end);
    }
    const Millis ends = all.remaining(keys[i]);
    const Millis needed = at_most_ten_years(end - all.now());
    if (ends >= 0 && ends < needed) all.expire(keys[i], std::to_string(needed));
  }
  if (!written && !last_id.empty()) all.set_score(last_leases, last_id, end + 1);
  put_indices(reply, lost);
}

/// Empty: none.
std::string_view life(Args args) { return args.size() > 4 ? args[4] : std::string_view(); }

void set(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 2, args[1]);
  if (once.before(reply)) return;
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const bool made = !semaphore.count();
  if (made) semaphore.become(number_of(args[0]) - semaphore.held(), once, false, "1", life(args));
  if (!made && !life(args).empty()) semaphore.keep_for(life(args));
  if (made || semaphore.swept()) semaphore.tell(args[2], args[3]);
  put_number(reply, made ? 1 : 0);
}

void set_total(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 2, args[1]);
  if (once.before(reply)) return;
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const std::optional<std::int64_t> before = semaphore.count();
  const std::int64_t count = number_of(args[0]) - semaphore.held();
  if (count != before) semaphore.become(count, once, false, std::to_string(count), life(args));
  if (before && !life(args).empty()) semaphore.keep_for(life(args));
  if (semaphore.swept() || count > before.value_or(0)) semaphore.tell(args[2], args[3]);
  put_number(reply, count);
}

void add(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 2, args[1]);
  if (once.before(reply)) return;
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const std::int64_t count = semaphore.count().value_or(-semaphore.held()) + number_of(args[0]);
  semaphore.become(count, once, true, std::to_string(count));
  semaphore.tell(args[2], args[3]);
  put_number(reply, count);
}

void remove(ScriptHost& host, Args keys, Args args, std::string& reply) {
  const Once once(host.keyspace(), keys, 2, args[0]);
  if (once.before(reply)) return;
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  if (!semaphore.count()) return put_number(reply, 0);
  semaphore.remove(once);
  tell_whom_it_can(host, args[1], args[2], "1");
  put_number(reply, 1);
}

void look_at(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  if (of_another_type(semaphore.broken())) throw Refused(semaphore.broken());
  if (semaphore.swept()) semaphore.tell(args[0], args[1]);
  if (!semaphore.count()) return put_null(reply);
  const Millis now = host.keyspace().now();
  const auto& leases = host.keyspace().scores(keys[1]);
  const auto first = std::ranges::find_if(leases, [now](const auto& each) { return each.first > now; });
  const auto over = std::count_if(leases.begin(), first, [](const auto& each) { return each.first >= 0; });
  const auto told = std::min<std::ptrdiff_t>(leases.end() - first, number_of(args[2]));
  put_head(reply, '*', 2 + 2 * static_cast<std::size_t>(told));
  put_number(reply, *semaphore.count() + over);
  put_number(reply, leases.end() - first);
  for (auto each = first; each != first + told; ++each) {
    put_text(reply, each->second);
    put_number(reply, each->first < kForever ? each->first - now : -1);
  }
}

}  // namespace
}  // namespace permits

std::span<const KnownScript> permits_scripts() {
  namespace scripts = wire::scripts;
  static constexpr std::array<KnownScript, 9> kScripts{{{&scripts::permits_acquire, permits::acquire},
                                                        {&scripts::permits_add, permits::add},
                                                        {&scripts::permits_set, permits::set},
                                                        {&scripts::permits_release, permits::release},
                                                        {&scripts::permits_remove, permits::remove},
                                                        {&scripts::permits_force_release, permits::force_release},
                                                        {&scripts::permits_renew, permits::renew},
                                                        {&scripts::permits_set_total, permits::set_total},
                                                        {&scripts::permits_look, permits::look_at}}};
  return kScripts;
}

}  // namespace holdfast::test
