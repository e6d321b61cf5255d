// The transitions of the leased semaphore: a number, and beside it the permits that are held, by the end of their
// leases.
#include <algorithm>
#include <array>

#include "sim/model/counting.hpp"
#include "wire/scripts.hpp"

namespace holdfast::test {
namespace permits {
namespace {

using Millis = Keyspace::Millis;
constexpr Millis kForever = 922'337'203'685'477;  // Redisson's end of a lease that has none
constexpr std::size_t kIdSize = 16;

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
  std::size_t held() { return all_.scores(leases_).size(); }

  /// Of ids that are held.
  void give_back(const std::vector<std::string>& ids) {
    attempt([&] { return all_.erase_member(leases_, ""); });
    const auto size = static_cast<std::int64_t>(ids.size());
    const auto back = attempt([&] {
      if (count_) all_.increment(key_, size);
      for (const std::string& id : ids) all_.erase_member(leases_, id);
      return true;
    });
    if (!back.value) {
      broken_ = back.refused;
    } else if (count_) {
      *count_ += size;
    }
  }

  /// These ids, of which some may be held already. False: there are not as many.
  bool take(Args ids, std::string_view lease) {
    const auto fresh = std::ranges::count_if(ids, [this](std::string_view id) { return !has(id); });
    if (fresh > 0 && count_.value_or(-1) < fresh) return false;
    if (fresh > 0) all_.increment(key_, -fresh);
    const Millis end = end_of(all_.now(), lease);
    for (const std::string_view id : ids) all_.set_score(leases_, id, end);
    const Millis remaining = all_.remaining(key_);
    if (remaining > 0) all_.expire(leases_, std::to_string(remaining));
    if (count_) *count_ -= fresh;
    return true;
  }

  void set_total(std::string_view total) {
    if (!count_) {
      all_.set(key_, total);
      count_ = number_of(total);
      return;
    }
    const std::int64_t change = number_of(total) - *count_ - static_cast<std::int64_t>(held());
    if (change != 0) all_.increment(key_, change);
    *count_ += change;
  }

  std::int64_t tell(std::string_view channel, std::string_view way, bool thorough) {
    return tell_of_permits(host_, count_, channel, way, thorough);
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
  if (semaphore.swept()) attempt([&] { return semaphore.tell(args[1], args[2], true); });
  if (granted) {
    put_head(reply, '*', 1 + ids.size());
    put_number(reply, -1);
    for (const std::string_view id : ids) put_text(reply, id);
    return;
  }
  if (args[3].empty()) return put_number(reply, semaphore.first_end());
  put_head(reply, '*', 3);
  put_number(reply, 1);
  put_number(reply, semaphore.first_end());
  put_number(reply, count_listeners(host, args[1], args[3]));
}

void release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const Args ids = args.subspan(2);
  const std::vector<std::string> back = held_of(semaphore, ids);
  if (!back.empty()) semaphore.give_back(back);
  semaphore.unless_broken();
  std::int64_t heard = 0;
  if (semaphore.swept() || !back.empty()) heard = semaphore.tell(args[0], args[1], false);
  back.size() == ids.size() ? put_number(reply, heard) : put_null(reply);
}

void force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  std::vector<std::string> back = held_of(semaphore, args.subspan(2));
  if (args.size() == 2) {
    for (const auto& [end, id] : host.keyspace().scores(keys[1])) back.push_back(id);
  }
  if (!back.empty()) semaphore.give_back(back);
  semaphore.unless_broken();
  if (semaphore.swept() || !back.empty()) semaphore.tell(args[0], args[1], false);
  put_number(reply, back.empty() ? 0 : 1);
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
  }
  if (!written && !last_id.empty()) all.set_score(last_leases, last_id, end + 1);
  put_indices(reply, lost);
}

void set_total(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  semaphore.unless_broken();
  const std::int64_t before = semaphore.count().value_or(0);
  semaphore.set_total(args[0]);
  if (semaphore.swept() || *semaphore.count() > before) semaphore.tell(args[1], args[2], false);
  put_number(reply, *semaphore.count());
}

void look_at(ScriptHost& host, Args keys, Args args, std::string& reply) {
  Semaphore semaphore(host, keys);
  if (of_another_type(semaphore.broken())) throw Refused(semaphore.broken());
  if (semaphore.swept()) attempt([&] { return semaphore.tell(args[0], args[1], true); });
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
  static constexpr std::array<KnownScript, 6> kScripts{{{&scripts::permits_acquire, permits::acquire},
                                                        {&scripts::permits_release, permits::release},
                                                        {&scripts::permits_force_release, permits::force_release},
                                                        {&scripts::permits_renew, permits::renew},
                                                        {&scripts::permits_set_total, permits::set_total},
                                                        {&scripts::permits_look, permits::look_at}}};
  return kScripts;
}

}  // namespace holdfast::test
