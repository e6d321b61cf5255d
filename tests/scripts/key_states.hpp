// SPDX-License-Identifier: Apache-2.0
// Every kind with all its keys, in the scenes of its use, and every call that it has: what a table of states is made
// of.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/any_lock.hpp"
#include "kinds/fenced_lock.hpp"
#include "kinds/spin_lock.hpp"
#include "scripts/counting_state.hpp"
#include "scripts/fair_state.hpp"
#include "scripts/read_write_state.hpp"

namespace holdfast::test::key_states {

using table::State;

struct Key {
  std::string name;
  std::string type;
  /// Only its owner uses it, and its name has the owner in it: whatever is there is replaced.
  bool its_own = false;
};

/// What must be true of a call besides what is true of all.
enum class Rule {
  none,
  takes,         ///< Granted: another owner does not get it as well.
  takes_shared,  ///< Granted: nobody gets it alone.
  asks_again,    ///< The same, but repeated it renews something: a place, or a token.
  sets,          ///< The whole number of permits becomes four.
};

struct Call {
  std::string title;
  base::Command command;
  Rule rule = Rule::none;
};

struct Scene {
  std::string title;
  State state;
  bool anothers = false;  ///< Another owner holds it too, or alone.
};

struct Kind {
  std::string title;
  std::vector<Key> keys;
  std::vector<Scene> scenes;
  std::vector<Call> calls;
  /// By another owner, who must not get it beside whoever holds it alone; and beside those who share it.
  std::vector<base::Command> rivals{};
  std::vector<base::Command> lone_rivals{};
  /// The number and the expiries that together are all permits; empty: it does not count.
  std::string number{}, held{};
};

inline const wire::Owner kOther{"55555555-2222-4333-8444-555555555555:5"};
inline constexpr std::chrono::milliseconds kFor{60'000};

inline Kind plain() {
  const wire::LockNames names = wire::lock::names("L");
  const std::string counter = wire::fenced::counter("L");
  const wire::AcquireCall mine{{&names, 1}, kA, kFor}, another{{&names, 1}, kOther, kFor};
  wire::AcquireCall counted = mine;
  counted.count_listeners = true;
  const auto held = [](const wire::Owner& owner) { return table::hash({{owner.text, "1"}}, 300'000); };
  return {"lock and its counter",
          {{"L", "hash"}, {counter, "string"}},
          {{"free", {{counter, table::text("7")}}},
           {"ours", {{"L", held(kA)}, {counter, table::text("7")}}},
           {"another's", {{"L", held(kB)}, {counter, table::text("7")}}, true}},
          {{"acquire", wire::lock::acquire(mine), Rule::takes},
           {"acquire counted", wire::lock::acquire(counted), Rule::takes},
           {"acquire fenced", wire::fenced::acquire(mine), Rule::asks_again},
           {"release", wire::lock::release({{&names, 1}, kA})},
           {"release spin", wire::spin::release({{&names, 1}, kA})},
           {"force", wire::lock::force_release(names)},
           {"force ours", wire::lock::force_release(names, kA)},
           {"force spin", wire::spin::force_release(names, {}, Publish::publish)},
           {"look", wire::lock::holder("L")},
           {"renew", wire::lock::renew({{"L", kA.text}}, kFor)}},
          {wire::lock::acquire(another), wire::fenced::acquire(another)}};
}

inline Kind several() {
  static const std::vector<wire::LockNames> both{wire::lock::names("{L}1"), wire::lock::names("{L}2")};
  const auto held = [](const wire::Owner& owner) { return table::hash({{owner.text, "1"}}, 300'000); };
  return {"several names",
          {{"{L}1", "hash"}, {"{L}2", "hash"}},
          {{"free", {}},
           {"both ours", {{"{L}1", held(kA)}, {"{L}2", held(kA)}}},
           {"one another's", {{"{L}1", held(kB)}}, true}},
          {{"acquire all", wire::lock::acquire({both, kA, kFor}), Rule::takes},
           {"acquire any", wire::any::acquire({both, kA, kFor})},
           {"release all", wire::lock::release({both, kA})},
           {"release any", wire::any::release({both, kA})},
           {"renew", wire::lock::renew({{"{L}1", kA.text}, {"{L}2", kA.text}}, kFor)}},
          {wire::lock::acquire({both, kOther, kFor})}};
}

inline Kind several_simple() {
  static const std::vector<wire::LockNames> both{wire::simple::names("{L}1"), wire::simple::names("{L}2")};
  const auto held = [](const wire::Owner& owner) { return table::text(owner.text, 300'000); };
  return {"several names of simple locks",
          {{"{L}1", "string"}, {"{L}2", "string"}},
          {{"free", {}},
           {"both ours", {{"{L}1", held(kA)}, {"{L}2", held(kA)}}},
           {"one another's", {{"{L}2", held(kB)}}, true}},
          {{"acquire", wire::simple::acquire({both, kA, kFor}), Rule::takes},
           {"release", wire::simple::release({both, kA})},
           {"renew", wire::simple::renew({{"{L}1", kA.text}, {"{L}2", kA.text}}, kFor)}},
          {wire::simple::acquire({both, kOther, kFor})}};
}

/// The marks of `run --fresh` and `--at` are such locks, too.
inline Kind simple() {
  const wire::LockNames names = wire::simple::names("L");
  return {"simple lock",
          {{"L", "string"}},
          {{"free", {}},
           {"ours", {{"L", table::text(kA.text, 300'000)}}},
           {"another's", {{"L", table::text(kB.text, 300'000)}}, true}},
          {{"acquire", wire::simple::acquire({{&names, 1}, kA, kFor}), Rule::takes},
           {"release", wire::simple::release({{&names, 1}, kA})},
           {"force", wire::simple::force_release(names, {}, Publish::publish)},
           {"force ours", wire::simple::force_release(names, kA, Publish::publish)},
           {"renew", wire::simple::renew({{"L", kA.text}}, kFor)}},
          {wire::simple::acquire({{&names, 1}, kOther, kFor})}};
}

inline Kind fair() {
  using namespace fair_lock;
  return {"fair lock",
          {{"L", "hash"}, {kQueue, "list"}, {kDeadlines, "zset"}},
          {{"free", {}},
           {"ours, and one waits", with(held(kX, 300'000), {{kY, 600'000}})},
           {"another's, and we wait", with(held(kZ, 300'000), {{kX, 600'000}, {kY, 700'000}}), true},
           {"free, and another is next", with({}, {{kY, 600'000}, {kX, 700'000}})}},
          {{"acquire", ask(kX), Rule::asks_again},
           {"try", ask(kX, std::nullopt), Rule::asks_again},
           {"release", give_back(kX)},
           {"leave", leave(kX)},
           {"force", wire::fair::force_release(kL, {}, Publish::publish)},
           {"force ours", wire::fair::force_release(kL, kX, Publish::publish)},
           {"look", wire::fair::line("L", 9)},
           {"renew", wire::lock::renew({{"L", kX.text}}, kFor)}},
          {ask(kOther, std::nullopt)}};
}

inline Kind read_write_lock() {
  using namespace read_write;
  return {"read-write lock",
          {{"L", "hash"}, {hold(kA), "string", true}},
          {{"free", {}},
           {"we read", read_by(kA, 300'000)},
           {"two read", two_readers(300'000, 300'000, 300'000), true},
           {"another reads", read_by(kB, 300'000), true},
           {"we write", written_by(kA, 300'000)},
           {"we do both", both_ways(300'000, 300'000)}},
          {{"read", read(kA), Rule::takes_shared},
           {"write", write(kA), Rule::takes},
           {"end read", end_read(kA)},
           {"end write", end_write(kA)},
           {"downgrade", downgrade(kA, kA)},
           {"force", rw::force_release(kL, {}, Publish::publish)},
           {"force ours", rw::force_release(kL, kA, Publish::publish)},
           {"look", rw::holders("L")},
           {"renew read", rw::renew({{"L", kA.text, wire::Mode::shared}}, kFor)},
           {"renew write", rw::renew({{"L", kA.text, wire::Mode::exclusive}}, kFor)}},
          {write(kOther), read(kOther)},
          {write(kOther)}};
}

inline Kind semaphore() {
  using namespace counting;
  const std::string taken = wire::acquired_key(kA);
  const std::string key = wire::once_key("S", taken);
  return {"semaphore",
          {{"S", "string"}, {key, "string"}},
          {{"three", {count("3")}}, {"three, one taken", {count("2"), kept(taken, "")}}, {"unset", {}}},
          {{"acquire", counting::semaphore::acquire(kA)},
           {"acquire many", counting::semaphore::acquire(of(kA, 9), true)},
           {"release", counting::semaphore::release(kA)},
           {"undo", counting::semaphore::undo(kA)},
           {"add", wire::semaphore::add({kS, 2, once("c:1")})},
           {"add if there", wire::semaphore::add_if_there({kS, 2, once("c:1")})},
           {"set", wire::semaphore::set({kS, 4, once("c:1")})},
           {"drain", wire::semaphore::drain(kS, once("c:1"))},
           {"remove", wire::semaphore::remove(kS, once("c:1"))}}};
}

inline Kind leased() {
  using namespace counting;
  using counting::permits::acquire;
  const std::string key = wire::once_key("S", "c:1");
  return {"leased semaphore",
          {{"S", "string"}, {kLeases, "zset"}, {key, "string"}},
          {{"unset", {}},
           {"two of three, one ours", {count("2"), counting::permits::leases({{counting::permits::kIdA, 300'000}})}},
           {"none of one, another's", {count("0"), counting::permits::leases({{counting::permits::kIdB, 300'000}})}},
           {"one is over",
            {count("0"),
             counting::permits::leases({{counting::permits::kIdB, -20'000}, {counting::permits::kIdA, 300'000}})}}},
          {{"acquire", acquire(kA)},
           {"acquire two", acquire(of(kOther, 2), kFor, true)},
           {"release", counting::permits::release(kA)},
           {"force", wire::permits::force_release(kS)},
           {"force ours", wire::permits::force_release(kS, kA)},
           {"renew", wire::permits::renew({{"S", wire::permits::shown(counting::permits::kIdA)}}, kFor)},
           {"look", wire::permits::look(kS, 9)},
           {"set", wire::permits::set({kS, 4, once("c:1")})},
           {"set total", wire::permits::set_total({kS, 4, once("c:1")}), Rule::sets},
           {"add", wire::permits::add({kS, 2, once("c:1")})},
           {"remove", wire::permits::remove(kS, once("c:1"))}},
          {},
          {},
          "S",
          kLeases};
}

inline Kind latch() {
  using namespace counting;
  const std::string key = wire::once_key("S", "c:1");
  return {"latch",
          {{"S", "string"}, {key, "string"}},
          {{"closed", {count("2")}}, {"open", {}}, {"counted already", {count("1"), kept("c:1", "1")}}},
          {{"set", wire::latch::set({kGate, 3, once("c:1")})},
           {"count down", wire::latch::count_down({kGate, 1, once("c:1")})},
           {"open", wire::latch::count_down({kGate, 2, once("c:1")})},
           {"remove", wire::latch::remove({kGate, once("c:1")})}}};
}

inline std::vector<Kind> all_kinds() {
  return {plain(), several(), several_simple(), simple(), fair(), read_write_lock(), semaphore(), leased(), latch()};
}

}  // namespace holdfast::test::key_states
