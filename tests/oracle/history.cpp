// SPDX-License-Identifier: Apache-2.0
#include "oracle/history.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "kinds/any_lock.hpp"
#include "kinds/fair_lock.hpp"
#include "kinds/fenced_lock.hpp"
#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/lock.hpp"
#include "kinds/read_write_lock.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/simple_lock.hpp"
#include "kinds/spin_lock.hpp"
#include "oracle/counting_calls.hpp"

namespace holdfast::test::oracle {
namespace {

/// What node-redisson writes behind the UUID of its client.
constexpr std::string_view kNodeRedissons = "99999999-2222-4333-8444-555555555555";

using std::chrono::milliseconds;

class Generator : CountingCalls {
  enum class Family : std::uint8_t { one_owner, read_write, fair, counting, permits };
  static constexpr std::size_t kFamilies = 5;

 public:
  Generator(std::uint64_t seed, const Likeness& like)
      : CountingCalls(seed), like_(like), family_(Family(seed % kFamilies)) {}

  Step next() {
    ++number_;
    const std::size_t dice = below(1000);
    if (dice < 12) return trouble();
    if (dice < (family_ == Family::permits ? 40 : 20)) return brief();
    if (dice < 60) return hostile();
    if (dice < 140) return listen();
    if (dice < 155) return {Step::Kind::untold, tracker, sent(renew(below(3) == 0, lease()))};
    if (dice < 200) return {Step::Kind::command, tracker, question()};
    if (dice < 250) return {Step::Kind::command, caller(), question()};
    if (dice < 260) return {Step::Kind::command, caller(), sent(look(one_of(names())))};
    if (dice < 290) return message();
    return {Step::Kind::command, caller(), transition(lease())};
  }

 private:
  /// What is of another kind stays under its name for long, and nothing can be counted there.
  Family next_family() {
    const bool other = below(family_ >= Family::counting ? 16 : 4) == 0;
    return other ? Family(below(kFamilies)) : family_;
  }
  Who caller() { return below(2) == 0 ? one : two; }
  wire::LockNames lock(bool simple) {
    return simple ? wire::simple::names(one_of(names())) : wire::lock::names(one_of(names()));
  }
  std::vector<wire::LockNames> locks(bool simple) {
    std::vector<std::string> left = names();
    std::vector<wire::LockNames> out;
    for (std::size_t i = 2 + below(2); i > 0; --i) {
      const std::size_t chosen = below(left.size());
      out.push_back(simple ? wire::simple::names(left[chosen]) : wire::lock::names(left[chosen]));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return out;
  }
  /// So far apart that what has passed since does not matter.
  milliseconds lease() { return milliseconds(60'000 + 20'000 * static_cast<std::int64_t>(number_ % 1000)); }

  base::Command acquire(bool simple, milliseconds lease) {
    const wire::Owner& owner = one_of(owners());
    const wire::LockNames single = lock(simple);
    const std::vector<wire::LockNames> several = locks(simple);
    const bool all = below(4) == 0;
    wire::AcquireCall call{all ? wire::Names(several) : wire::Names(&single, 1), owner, lease};
    call.count_listeners = below(2) == 0;
    call.publish = publish();
    if (simple) return wire::simple::acquire(call);
    if (all && below(2) == 0) return wire::any::acquire(call);
    return !all && below(4) == 0 ? wire::fenced::acquire(call) : wire::lock::acquire(call);
  }
  base::Command release(bool simple) {
    const wire::LockNames single = lock(simple);
    const std::vector<wire::LockNames> several = locks(simple);
    const bool all = below(4) == 0;
    wire::ReleaseCall call{all ? wire::Names(several) : wire::Names(&single, 1), one_of(owners())};
    call.publish = publish();
    if (simple) return wire::simple::release(call);
    if (!all && below(4) == 0) return wire::spin::release(call);
    return all && below(2) == 0 ? wire::any::release(call) : wire::lock::release(call);
  }
  base::Command renew(bool simple, milliseconds lease) {
    std::vector<wire::Renewal> renewals;
    for (std::size_t i = 1 + below(4); i > 0; --i) renewals.push_back({one_of(names()), one_of(owners()).text});
    return simple ? wire::simple::renew(renewals, lease) : wire::lock::renew(renewals, lease);
  }

  base::Command look(const std::string& name) {
    const std::size_t dice = below(4);
    if (dice == 3) return wire::permits::look(wire::permits::names(name), 1 + below(4), publish());
    if (dice == 0) return wire::fair::line(name, 1 + below(4));
    return dice == 1 ? wire::read_write::holders(name) : wire::lock::holder(name);
  }

  // ---- the read-write lock ----

  /// Who asked to write last, and has it perhaps. By chance alone a writer seldom reads as well, and then leaves.
  struct Writer {
    std::string name = names().front();
    wire::Owner owner = owners().front();
  };

  base::Command acquire_read_write(milliseconds lease) {
    const bool writes = below(3) == 0;
    if (writes) writer_ = {one_of(names()), one_of(owners())};
    const bool same = writes || below(2) == 0;  // the writer reads as well
    const wire::LockNames name = wire::read_write::names(same ? writer_.name : one_of(names()));
    const wire::Owner owner = same ? writer_.owner : one_of(owners());
    wire::AcquireCall call{{&name, 1}, owner, lease};
    call.count_listeners = below(2) == 0;
    call.publish = publish();
    return writes ? wire::read_write::acquire_write(call) : wire::read_write::acquire_read(call);
  }
  base::Command renew_read_write(milliseconds lease) {
    std::vector<wire::Renewal> renewals;
    for (std::size_t i = 1 + below(4); i > 0; --i) {
      renewals.push_back(
          {one_of(names()), one_of(owners()).text, below(2) == 0 ? wire::Mode::shared : wire::Mode::exclusive});
    }
    return wire::read_write::renew(renewals, lease);
  }
  std::vector<std::string> read_write(milliseconds lease) {
    const bool same = below(4) == 0;
    const wire::LockNames name = wire::read_write::names(same ? writer_.name : one_of(names()));
    const wire::Owner owner = same ? writer_.owner : one_of(owners());
    const std::size_t dice = below(20);
    if (dice < 9) return spoiled(sent(acquire_read_write(lease)), lease);
    if (dice < 14) {
      wire::ReleaseCall call{{&name, 1}, owner};
      call.publish = publish();
      return sent(same || below(3) == 0 ? wire::read_write::release_write(call) : wire::read_write::release_read(call));
    }
    if (dice < 16) return spoiled(sent(renew_read_write(lease)), lease);
    if (dice < 18) {
      return sent(
          wire::read_write::downgrade({name, owner, below(2) == 0 ? owner : one_of(owners()), lease, publish()}));
    }
    return sent(wire::read_write::force_release(name, below(2) == 0 ? std::optional(owner) : std::nullopt, publish()));
  }

  // ---- the fair lock ----

  /// So long, and each so different, that no deadline comes near another or near now.
  milliseconds turn() { return milliseconds(50'000'000'000 + 10'000 * static_cast<std::int64_t>(below(1'000'000))); }

  /// Deadlines of a crowd.
  std::vector<std::string> crowd(const wire::LockNames& name) {
    std::vector<std::string> words{"ZADD", wire::fair::deadlines(name.key)};
    for (std::size_t i = 95 + below(10); i > 0; --i) {
      words.push_back(std::to_string(1 + below(9)));  // long ago, also for the model, whose clock is another
      words.push_back("c" + std::to_string(i));
    }
    return words;
  }

  std::vector<std::string> fair(milliseconds lease) {
    const wire::LockNames name = wire::fair::names(one_of(names()));
    const wire::Owner& owner = one_of(owners());
    const std::size_t dice = below(21);
    if (dice == 20) return crowd(name);
    if (dice < 10) {
      wire::AcquireCall call{{&name, 1}, owner, lease};
      call.publish = publish();
      if (below(5) > 0) call.turn = turn();
      return spoiled(sent(wire::fair::acquire(call)), lease);
    }
    if (dice < 14) {
      wire::ReleaseCall call{{&name, 1}, owner};
      call.publish = publish();
      call.turn = turn();
      return sent(wire::fair::release(call));
    }
    if (dice < 18) return sent(wire::fair::leave({{&name, 1}, owner, turn(), publish()}));
    return sent(wire::fair::force_release(name, below(2) == 0 ? std::optional(owner) : std::nullopt, publish()));
  }

  std::vector<std::string> transition(milliseconds lease) {
    const Family family = next_family();
    if (family == Family::read_write) return read_write(lease);
    if (family == Family::fair) return fair(lease);
    if (family == Family::counting) return below(3) > 0 ? semaphore(lease) : latch(lease);
    if (family == Family::permits) return permits(lease);
    const bool simple = below(3) == 0;
    const std::size_t dice = below(20);
    if (dice < 9) return spoiled(sent(acquire(simple, lease)), lease);
    if (dice < 15) return sent(release(simple));
    if (dice < 18) return spoiled(sent(renew(simple, lease)), lease);
    std::optional<wire::Owner> owner;
    if (below(2) == 0) owner = one_of(owners());
    if (simple) return sent(wire::simple::force_release(lock(true), owner, publish()));
    if (below(4) == 0) return sent(wire::spin::force_release(lock(false), owner));
    return sent(wire::lock::force_release(lock(false), owner, publish()));
  }

  /// A lease that makes no sense, at times.
  std::vector<std::string> spoiled(std::vector<std::string> words, milliseconds lease) {
    if (below(40) != 0) return words;
    std::vector<std::string> instead{"many", "1.5"};
    if (like_.major >= 7) instead.emplace_back("9223372036854775807");
    // Behind it may be another time that is as long by chance.
    const auto word = std::ranges::find(words, std::to_string(lease.count()));
    if (word != words.end()) *word = one_of(instead);
    return words;
  }

  Step brief() {
    if (family_ == Family::permits && below(4) > 0) {
      return {Step::Kind::brief, caller(),
              sent(below(2) == 0 ? acquire_permits(milliseconds(4)) : renew_permits(milliseconds(4)))};
    }
    if (below(3) == 0) {
      return {Step::Kind::brief, caller(),
              sent(below(2) == 0 ? acquire_read_write(milliseconds(4)) : renew_read_write(milliseconds(4)))};
    }
    const auto words =
        sent(below(2) == 0 ? acquire(below(3) == 0, milliseconds(4)) : renew(below(3) == 0, milliseconds(4)));
    return {Step::Kind::brief, caller(), words};
  }

  std::vector<std::string> question() {
    const std::string& name = one_of(names());
    const std::string& owner = one_of(owners()).text;
    return one_of(std::vector<std::vector<std::string>>{{"HLEN", name},
                                                        {"HEXISTS", name, owner},
                                                        {"HEXISTS", name, owner},
                                                        {"HGET", name, owner},
                                                        {"GET", name},
                                                        {"GET", wire::fenced::counter(name)},
                                                        {"STRLEN", name},
                                                        {"PTTL", name},
                                                        {"TYPE", name},
                                                        {"EXISTS", name}});
  }

  /// Of the kinds that have one.
  std::string second_key(const std::string& name) {
    return one_of(std::vector<std::string>{wire::fenced::counter(name), wire::fair::queue(name),
                                           wire::fair::deadlines(name),
                                           wire::read_write::hold_key(name, one_of(owners()).text),
                                           wire::permits::expiries(name), wire::once_key(name, one_of(known_again()))});
  }

  /// Of a pair of keys one is removed, ends, or becomes something else.
  Step hostile_pair() {
    const std::string& name = one_of(names());
    const std::string key = below(3) == 0 ? name : second_key(name);
    return {Step::Kind::command, caller(),
            one_of(std::vector<std::vector<std::string>>{{"DEL", key},
                                                         {"DEL", key},
                                                         {"PEXPIRE", key, "0"},
                                                         {"PEXPIRE", key, std::to_string(lease().count())},
                                                         {"SET", key, "x"},
                                                         {"RPUSH", key, "x"}})};
  }

  /// What is no lock of ours, or no lock at all.
  Step hostile() {
    if (below(4) == 0) return hostile_pair();
    const std::string& name = one_of(names());
    return {Step::Kind::command, caller(),
            one_of(std::vector<std::vector<std::string>>{
                {"RPUSH", name, "x"},
                {"SET", name, "somebody"},
                {"SET", name, one_of(owners()).text, "PX", std::to_string(lease().count())},
                {"HSET", name, one_of(owners()).text, "2"},
                {"HSET", name, one_of(owners()).text, "-1"},
                {"HSET", name, one_of(owners()).text + ":write", "1"},
                {"HSET", name, one_of(owners()).text.substr(0, 36) + ":" + std::string(kNodeRedissons),
                 one_of(std::vector<std::string>{"1", "0"})},
                {"HSET", name, "mode", "read"},
                {"HSET", name, "mode", "other"},
                {"HDEL", name, one_of(owners()).text},
                {"PEXPIRE", name, std::to_string(lease().count())},
                {"PEXPIRE", name, "0"},
                {"DEL", name},
                {"DEL", name},
                {"SET", wire::fenced::counter(name), "many"},
                {"SET", wire::fenced::counter(name), "9223372036854775807"},
                {"RPUSH", wire::fenced::counter(name), "1"},
                {"DEL", wire::fenced::counter(name)},
                {"RPUSH", wire::fair::queue(name), "x"},
                {"RPUSH", wire::fair::queue(name), one_of(owners()).text},
                {"SET", wire::fair::queue(name), "x"},
                {"DEL", wire::fair::queue(name)},
                {"ZADD", wire::fair::deadlines(name), "1", one_of(owners()).text},
                {"SET", wire::fair::deadlines(name), "x"},
                {"DEL", wire::fair::deadlines(name)},
                {"DEL", wire::read_write::hold_key(name, one_of(owners()).text)},
                {"HSET", wire::read_write::hold_key(name, one_of(owners()).text), "a", "b"},
                {"SET", name, "3"},
                {"SET", name, one_of(std::vector<std::string>{"0", "-2", "007", "1.5", "1234567890123456789"})},
                {"ZADD", wire::permits::expiries(name), "1", wire::permits::ids_of(one_of(owners())).front()},
                {"SET", wire::permits::expiries(name), "x"},
                {"DEL", wire::permits::expiries(name)},
                {"DEL", wire::once_key(name, one_of(known_again()))},
                {"RPUSH", wire::once_key(name, one_of(known_again())), "x"},
                {"SCRIPT", "FLUSH"},
                {"SCRIPT", "LOAD", std::string(acquire(below(2) == 0, lease()).script->text)},
                {"FLUSHALL"}})};
  }

  std::string channel_to_hear() {
    const Family family = next_family();
    if (family == Family::read_write) return wire::read_write::names(one_of(names())).channel;
    if (family >= Family::counting) {
      const std::string& name = one_of(names());
      return (below(3) == 0 ? wire::latch::names(name) : wire::semaphore::names(name)).channel;
    }
    if (family == Family::fair) return wire::fair::wake_channel(wire::fair::names(one_of(names())), one_of(owners()));
    return lock(below(3) == 0).channel;
  }

  Step listen() {
    const Who who = one_of(std::vector<Who>{listener, another_listener, another_listener, one});
    const std::string channel = channel_to_hear();
    // Valkey 8.0 refuses to end what has not begun.
    const bool begin = below(3) > 0 || (like_.valkey && subscriptions_[who].empty());
    std::string verb = like_.has_sharded_channels() && below(2) == 0 ? "S" : "";
    verb += begin ? "SUBSCRIBE" : "UNSUBSCRIBE";
    if (begin) {
      subscriptions_[who].insert(verb + channel);
    } else {
      std::erase_if(subscriptions_[who], [&](const std::string& each) { return each.ends_with(channel); });
    }
    return {Step::Kind::command, who, {verb, channel}};
  }

  Step message() {
    const std::string channel = lock(below(3) == 0).channel;
    std::vector<std::vector<std::string>> choices{{"PUBLISH", channel, "0"}, {"PUBSUB", "NUMSUB", channel}};
    if (like_.has_sharded_channels()) {
      choices.push_back({"SPUBLISH", channel, "hello"});
      choices.push_back({"PUBSUB", "SHARDNUMSUB", channel, "x"});
    }
    return {Step::Kind::command, caller(), one_of(choices)};
  }

  /// It begins, or whatever it is ends.
  Step trouble() {
    if (state_ != Step::Kind::command) return {std::exchange(state_, Step::Kind::command), looker, {forbidden_}};
    const std::size_t dice = below(4);
    if (dice == 0 && like_.major >= 7) {
      forbidden_ = one_of(std::vector<std::string>{"publish", "spublish", "hgetall", "hlen", "type", "pubsub"});
      state_ = Step::Kind::allow;
      return {Step::Kind::forbid, looker, {forbidden_}};
    }
    if (dice == 1) return state_ = Step::Kind::roomy, Step{Step::Kind::full, looker, {""}};
    if (dice == 2 && like_.major >= 7) return state_ = Step::Kind::together, Step{Step::Kind::lonely, looker, {""}};
    return state_ = Step::Kind::lead, Step{Step::Kind::follow, looker, {""}};
  }

  const Likeness like_;
  const Family family_;  // of most of its transitions
  std::size_t number_ = 0;
  std::array<std::set<std::string>, kSessions> subscriptions_;
  Step::Kind state_ = Step::Kind::command;  // by which the trouble that there is ends
  std::string forbidden_;
  Writer writer_;
};

}  // namespace

const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"orders", "{orders}:2", "stock", "odd {name"};
  return all;
}

const std::vector<std::vector<std::string>>& questions() {
  static const std::vector<std::vector<std::string>> all = [] {
    std::vector<std::vector<std::string>> out;
    for (const std::string& name : names()) {
      out.push_back({"TYPE", wire::fair::queue(name)});
      out.push_back({"LRANGE", wire::fair::queue(name), "0", "-1"});
      out.push_back({"TYPE", wire::fair::deadlines(name)});
      out.push_back({"PTTL", wire::fair::queue(name)});
      out.push_back({"PTTL", wire::fair::deadlines(name)});
      const base::Command line = wire::fair::line(name, 100);
      out.push_back({"EVAL", std::string(line.script->text)});
      out.back().insert(out.back().end(), line.args.begin(), line.args.end());
      for (const wire::Owner& owner : Draw::owners())
        out.push_back({"PTTL", wire::read_write::hold_key(name, owner.text)});
      out.push_back({"TYPE", wire::permits::expiries(name)});
      out.push_back({"ZRANGE", wire::permits::expiries(name), "0", "-1"});
      out.push_back({"PTTL", wire::permits::expiries(name)});
      for (const std::string& change : known_again()) {
        out.push_back({"GET", wire::once_key(name, change)});
        out.push_back({"PTTL", wire::once_key(name, change)});
      }
    }
    return out;
  }();
  return all;
}

std::string to_string(const Step& step) {
  static const std::vector<std::string> kinds{"",           "(untold)",      "(brief)", "(forbid)",
                                              "(allow)",    "(memory full)", "(room)",  "(lonely)",
                                              "(together)", "(follow)",      "(lead)"};
  std::string out = std::to_string(step.who) + " " + kinds[static_cast<std::size_t>(step.kind)];
  for (const std::string& word : step.words) out += " " + base::printable(word.substr(0, 60));
  return out;
}

std::vector<Step> make_history(std::uint64_t seed, std::size_t steps, const Likeness& like) {
  Generator generator(seed, like);
  std::vector<Step> history;
  history.reserve(steps);
  while (history.size() < steps) history.push_back(generator.next());
  return history;
}

}  // namespace holdfast::test::oracle
