// SPDX-License-Identifier: Apache-2.0
// The fair lock's scripts as a table.
#include "scripts/fair_state.hpp"

namespace holdfast::test::fair_table_test {
namespace {

using namespace fair_lock;
using namespace table;

const wire::Owner kNobody{"nobody"};
constexpr long long kFar = 40'000'000'000;  // more than a year

/// A queue whose waiters have no deadlines.
State queue_alone(State state, const std::vector<std::string>& order) {
  state[kQueue] = list(order);
  return state;
}

std::vector<Row> acquire_rows() {
  const State busy = held(kX, 30'000);
  return {
      {"a free lock is granted", {}, ask(kX), nil(), held(kX, 60'000)},
      {"a free lock is granted to one who does not wait", {}, ask(kX, std::nullopt), nil(), held(kX, 60'000)},
      {"its owner again keeps it, and the queue stays", with(busy, {{kY, 130'000}}), ask(kX), nil(),
       with(held(kX, 60'000), {{kY, 130'000}})},
      {"the first who waits is there until the lease and a turn are over", busy, ask(kY), behind(0, 30'000),
       kept(with(busy, {{kY, 130'000}}))},
      {"a turn of a millisecond is one", busy, ask(kY, milliseconds(1)), behind(0, 30'000),
       kept(with(busy, {{kY, 30'001}}))},
      {"a free lock whose queue is elsewhere is granted to nobody, and free",
       {},
       wire::with_first_key(ask(kX)),
       number(1),
       {}},
      {"a lock whose queue is elsewhere is taken for so long", busy, wire::with_first_key(ask(kY)), number(30'000),
       busy},
      {"the next who waits has a turn behind that", with(busy, {{kY, 130'000}}), ask(kZ), behind(1, 30'000),
       kept(with(busy, {{kY, 130'000}, {kZ, 230'000}}))},
      {"a queue that ends later keeps its end", kept(with(busy, {{kY, 30'000'000}})), ask(kZ), behind(1, 30'000),
       ending(kept(with(busy, {{kY, 30'000'000}, {kZ, 30'100'000}})), 30'000'000 + kDay)},
      {"a queue that ends soon is kept", ending(with(busy, {{kY, 130'000}}), kDay / 2 - 1'000'000), ask(kZ),
       behind(1, 30'000), kept(with(busy, {{kY, 130'000}, {kZ, 230'000}}))},
      {"who waits behind Redisson has what Redisson will take off, and a turn", with(busy, {{kJ, 330'000}}), ask(kY),
       behind(1, 30'000), kept(with(busy, {{kJ, 330'000}, {kY, 730'000}}))},
      {"who does not wait is not queued", with(busy, {{kY, 130'000}}), ask(kZ, std::nullopt), number(30'000),
       with(busy, {{kY, 130'000}})},
      {"who does not wait comes not before who is next, and learns when that is over", with({}, {{kY, 50'000}}),
       ask(kZ, std::nullopt), number(50'000), with({}, {{kY, 50'000}})},
      {"who does not wait cuts nobodys turn", with({}, {{kY, kFar}}), ask(kZ, std::nullopt), number(kFar),
       with({}, {{kY, kFar}})},
      {"who is next enters, and all behind come nearer", with({}, {{kX, 130'000}, {kY, 230'000}, {kJ, 630'000}}),
       ask(kX), nil(), with(held(kX, 60'000), {{kY, 130'000}, {kJ, 530'000}})},
      {"who is alone in the queue leaves none", with({}, {{kX, 130'000}}), ask(kX), nil(), held(kX, 60'000)},
      {"a queue whose head is dead is entered by the one behind", with({}, {{kX, -20'000}, {kY, 130'000}}), ask(kY),
       nil(), held(kY, 60'000)},
      {"a queue of the dead is no queue", with({}, {{kX, -40'000}, {kY, -20'000}}), ask(kZ), nil(), held(kZ, 60'000)},
      {"who is behind a live head waits for its turn to end", with({}, {{kX, 90'000}}), ask(kY), behind(1, 90'000),
       kept(with({}, {{kX, 90'000}, {kY, 190'000}}))},
      {"a head that does not come is told again",
       with({}, {{kX, 50'000}}),
       ask(kY),
       behind(1, 50'000),
       kept(with({}, {{kX, 50'000}, {kY, 150'000}})),
       {turn_of(kX)}},
      {"who is next and does not come has one turn, and is told",
       with({}, {{kX, 500'000}, {kY, 700'000}}),
       ask(kY),
       behind(1, 100'000),
       kept(with({}, {{kX, 100'000}, {kY, 700'000}})),
       {turn_of(kX)}},
      {"Redissons head has the time that it has written", with({}, {{kJ, 200'000}, {kY, 900'000}}), ask(kY),
       behind(1, 200'000), kept(with({}, {{kJ, 200'000}, {kY, 900'000}}))},
      {"Redissons head has no more than Redissons turn",
       with({}, {{kJ, kFar}, {kY, 2 * kFar}}),
       ask(kY),
       behind(1, 300'000),
       kept(with({}, {{kJ, 300'000}, {kY, 2 * kFar}})),
       {turn_of(kJ)}},
      {"an entry of nobodys has a turn",
       with({}, {{kNobody, kFar}, {kY, 2 * kFar}}),
       ask(kY),
       behind(1, 100'000),
       kept(with({}, {{kNobody, 100'000}, {kY, 2 * kFar}})),
       {turn_of(kNobody)}},
      {"a head without a deadline gets one",
       queue_alone({}, {kJ.text}),
       ask(kY),
       behind(0, 100'000),
       kept(with({}, {{kJ, 100'000}, {kY, 100'000}})),
       {turn_of(kJ)}},
      {"one who lost its deadline has one place", queue_alone(busy, {kY.text, kZ.text}), ask(kY), behind(0, 30'000),
       kept({{"L", busy.at("L")}, {kQueue, list({kZ.text, kY.text})}, {kDeadlines, zset({{kY.text, 130'000}})}})},
      {"who waits and asks again keeps its place for longer", with(busy, {{kY, 20'000}, {kZ, 130'000}}), ask(kY),
       behind(1, 30'000), kept(with(busy, {{kY, 230'000}, {kZ, 130'000}}))},
      {"who waits and asks again keeps a deadline that is later", with(busy, {{kY, 900'000}}), ask(kY),
       behind(0, 30'000), kept(with(busy, {{kY, 900'000}}))},
      {"who waits behind another and asks again", with(busy, {{kY, 130'000}, {kZ, 230'000}}), ask(kZ),
       behind(1, 30'000), kept(with(busy, {{kY, 130'000}, {kZ, 330'000}}))},
      {"who waits behind Redisson and asks again", with(busy, {{kJ, 330'000}, {kY, 340'000}}), ask(kY),
       behind(1, 30'000), kept(with(busy, {{kJ, 330'000}, {kY, 830'000}}))},
      {"a lock that never ends is refused, and nobody is queued", with(held(kX, kNoExpiry), {{kY, 130'000}}), ask(kZ),
       refused("a lock of " + kX.text + " without an expiry, so nothing ends it; PEXPIRE gives it one"),
       with(held(kX, kNoExpiry), {{kY, 130'000}})},
      {"a dead head is swept while the lock is held", with(busy, {{kY, -20'000}, {kZ, 330'000}}), ask(kZ),
       behind(0, 30'000), kept(with(busy, {{kZ, 330'000}}))},
  };
}

std::vector<Row> release_rows() {
  const State busy = held(kX, 30'000);
  const State broken{{kQueue, text("text")}};
  State held_broken = broken;
  held_broken["L"] = busy.at("L");
  return {
      {"a release with nobody waiting tells nobody", busy, give_back(kX), number(0), {}},
      {"a release tells who is next, alone",
       with(busy, {{kY, 130'000}, {kZ, 230'000}}),
       give_back(kX),
       number(1),
       with({}, {{kY, 100'000}, {kZ, 230'000}}),
       {turn_of(kY)}},
      {"a release puts no deadline off",
       with(busy, {{kY, 50'000}, {kZ, 230'000}}),
       give_back(kX),
       number(1),
       with({}, {{kY, 50'000}, {kZ, 230'000}}),
       {turn_of(kY)}},
      {"a release leaves Redisson the time that it has written",
       with(busy, {{kJ, 200'000}, {kY, 900'000}}),
       give_back(kX),
       number(1),
       with({}, {{kJ, 200'000}, {kY, 900'000}}),
       {turn_of(kJ)}},
      {"a release gives one without a deadline a turn",
       queue_alone(busy, {kY.text}),
       give_back(kX),
       number(1),
       with({}, {{kY, 100'000}}),
       {turn_of(kY)}},
      {"a release tells no dead",
       with(busy, {{kY, -20'000}, {kZ, 230'000}}),
       give_back(kX),
       number(1),
       with({}, {{kZ, 100'000}}),
       {turn_of(kZ)}},
      {"a release whose queue is elsewhere tells nobody", busy, wire::with_first_key(give_back(kX)), number(0), {}},
      {"force whose queue is elsewhere tells nobody",
       busy,
       wire::with_first_key(fair::force_release(kL)),
       number(1),
       {}},
      {"a release by another changes nothing", with(busy, {{kY, 130'000}}), give_back(kY), nil(),
       with(busy, {{kY, 130'000}})},
      {"a release of a free lock changes nothing", with({}, {{kY, 130'000}}), give_back(kX), nil(),
       with({}, {{kY, 130'000}})},
      {"a release with a queue that is none", held_broken, give_back(kX), number(0), broken},
      {"force tells who is next",
       with(busy, {{kY, 130'000}, {kZ, 230'000}}),
       fair::force_release(kL),
       number(1),
       with({}, {{kY, 130'000}, {kZ, 230'000}}),
       {turn_of(kY)}},
      {"force from its owner", busy, fair::force_release(kL, kX), number(1), {}},
      {"force from another", busy, fair::force_release(kL, kY), number(0), busy},
      {"force on a lock that never ends, as its queue stays",
       with(held(kX, kNoExpiry), {{kY, 130'000}}),
       fair::force_release(kL, kX),
       number(1),
       with({}, {{kY, 130'000}}),
       {turn_of(kY)}},
      {"force on a free lock", with({}, {{kY, 130'000}}), fair::force_release(kL), number(0),
       with({}, {{kY, 130'000}})},
      {"who is next leaves a lock that is held", with(busy, {{kY, 130'000}, {kZ, 230'000}}), leave(kY), number(1),
       with(busy, {{kZ, 130'000}})},
      {"who is next leaves a lock that is free and tells the one behind",
       with({}, {{kY, 130'000}, {kZ, 230'000}}),
       leave(kY),
       number(1),
       with({}, {{kZ, 100'000}}),
       {turn_of(kZ)}},
      {"who is in the middle leaves, and only those behind come nearer",
       with({}, {{kX, 130'000}, {kY, 230'000}, {kZ, 330'000}}), leave(kY), number(1),
       with({}, {{kX, 130'000}, {kZ, 230'000}})},
      {"who is last leaves nothing", with({}, {{kX, 130'000}}), leave(kX), number(1), {}},
      {"who is not in the queue leaves it as it is", with(busy, {{kY, 130'000}}), leave(kZ), number(0),
       with(busy, {{kY, 130'000}})},
      {"who has it does not give it back by leaving", with(busy, {{kY, 130'000}}), leave(kX), number(0),
       with(busy, {{kY, 130'000}})},
      {"who waits twice leaves once for all", queue_alone(busy, {kY.text, kZ.text, kY.text}), leave(kY), number(1),
       queue_alone(busy, {kZ.text})},
  };
}

std::vector<Row> look_rows() {
  const State busy = held(kX, 30'000);
  return {
      {"a look at nothing", {}, fair::line("L", 10), nil(), {}},
      {"a look at a lock without a queue", busy, fair::line("L", 10),
       several({word(kX.text), word("1"), number(30'000), number(0)}), busy},
      {"a look at a lock that never ends", held(kX, kNoExpiry), fair::line("L", 10),
       several({word(kX.text), word("1"), number(-1), number(0)}), held(kX, kNoExpiry)},
      {"a look at the first of a queue", with(busy, {{kY, 130'000}, {kJ, 430'000}, {kZ, 830'000}}), fair::line("L", 2),
       several({word(kX.text), word("1"), number(30'000), number(3), word(kY.text), number(130'000), word(kJ.text),
                number(430'000)}),
       with(busy, {{kY, 130'000}, {kJ, 430'000}, {kZ, 830'000}})},
      {"a look at a free lock whose head has no deadline", queue_alone({}, {kY.text}), fair::line("L", 2),
       several({nil(), nil(), number(-2), number(1), word(kY.text), nil()}), queue_alone({}, {kY.text})},
  };
}

std::vector<Row> stranger_rows() {
  const std::string no_queue =
      "a fair lock whose queue is none: redisson_lock_queue must be a list, redisson_lock_timeout a sorted set";
  std::vector<Row> rows;
  const auto add = [&](const std::string& title, const State& state, const base::Command& call,
                       const std::string& called) { rows.push_back({title, state, call, refused(called), state}); };
  const State read_lock{{"L", hash({{"mode", "read"}, {kJ.text, "1"}}, 30'000)}};
  for (const auto& [what, call] :
       {std::pair("acquire", ask(kX)), std::pair("one who does not wait", ask(kX, {})),
        std::pair("force", fair::force_release(kL)), std::pair("a look", fair::line("L", 9))}) {
    add(std::string(what) + " on a read lock", read_lock, call, "a read-write lock");
    add(std::string(what) + " on a list", {{"L", list({"a"})}}, call, "a list");
  }
  add("acquire with a queue that is a string", {{kQueue, text("text")}}, ask(kX), no_queue);
  State odd = held(kX, 30'000);
  odd[kQueue] = list({kY.text});
  odd[kDeadlines] = text("text");
  add("acquire with deadlines that are a string", odd, ask(kZ), no_queue);
  return rows;
}

class FairTable : public Table {};
TEST_P(FairTable, holds) { expect_row(); }
INSTANTIATE_TEST_SUITE_P(Acquire, FairTable, testing::ValuesIn(acquire_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Release, FairTable, testing::ValuesIn(release_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Look, FairTable, testing::ValuesIn(look_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, FairTable, testing::ValuesIn(stranger_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::fair_table_test
