// SPDX-License-Identifier: Apache-2.0
// The leased semaphore's scripts as a table.
#include "scripts/counting_state.hpp"

namespace holdfast::test::permits_table_test {
namespace {

using namespace counting;
using namespace table;
using namespace counting::permits;
using counting::permits::acquire;
using counting::permits::release;

const wire::Owner kTwo = of(kA, 2);

Reply granted(std::vector<std::string> ids) {
  std::vector<Reply> elements{number(-1)};
  for (std::string& id : ids) elements.push_back(word(std::move(id)));
  return several(std::move(elements));
}
base::Command renew(const std::vector<wire::Renewal>& renewals) { return wire::permits::renew(renewals, kLease); }
base::Command look(std::size_t most = 10) { return wire::permits::look(kS, most); }
base::Command total(long long permits) { return wire::permits::set_total({kS, permits, once("c:9")}); }
base::Command total_for(long long permits) {
  return wire::permits::set_total({kS, permits, once("c:9")}, milliseconds(600'000));
}
base::Command set(long long permits) { return wire::permits::set({kS, permits, once("c:9")}); }
base::Command set_for(long long permits) {
  return wire::permits::set({kS, permits, once("c:9")}, milliseconds(600'000));
}
base::Command add(long long permits) { return wire::permits::add({kS, permits, once("c:9")}); }
base::Command remove() { return wire::permits::remove(kS, once("c:9")); }
base::Command force(const std::optional<wire::Owner>& owner = {}) { return wire::permits::force_release(kS, owner); }
/// As a grant calls two permits.
const wire::Owner kNamed{wire::permits::shown(kIdA) + "," + wire::permits::shown(kSecondOfA)};

/// Its last id is named once more.
base::Command twice(base::Command command) {
  command.args.push_back(command.args.back());
  return command;
}

std::vector<Row> acquire_rows() {
  return {
      {"one of two", {count("2")}, acquire(kA), granted({kIdA}), {count("1"), leases({{kIdA, 60'000}})}},
      {"two of two",
       {count("2")},
       acquire(kTwo),
       granted({kIdA, kSecondOfA}),
       {count("0"), leases({{kIdA, 60'000}, {kSecondOfA, 60'000}})}},
      {"the expiries end with the semaphore",
       {count("2", 600'000)},
       acquire(kA),
       granted({kIdA}),
       {count("1", 600'000), leases({{kIdA, 60'000}}, 600'000)}},
      {"the expiries do not end before the lease",
       {count("2", 30'000)},
       acquire(kA),
       granted({kIdA}),
       {count("1", 30'000), leases({{kIdA, 60'000}}, 60'000)}},
      {"the expiries of the one before do not end before the lease",
       {count("2"), leases({{kIdB, 30'000}}, 40'000)},
       acquire(kA),
       granted({kIdA}),
       {count("1"), leases({{kIdA, 60'000}, {kIdB, 30'000}}, 60'000)}},
      {"nor before another's",
       {count("2", 30'000), leases({{kIdB, 300'000}}, 300'000)},
       acquire(kA),
       granted({kIdA}),
       {count("1", 30'000), leases({{kIdA, 60'000}, {kIdB, 300'000}}, 300'000)}},
      {"the third, of a semaphore that ends",
       {count("1", 600'000), leases({{kIdB, 30'000}, {kSecondOfA, 30'000}}, 600'000)},
       acquire(kA),
       granted({kIdA}),
       {count("0", 600'000), leases({{kIdA, 60'000}, {kIdB, 30'000}, {kSecondOfA, 30'000}}, 600'000)}},
      {"beside another",
       {count("1"), leases({{kIdB, 300'000}})},
       acquire(kA),
       granted({kIdA}),
       {count("0"), leases({{kIdA, 60'000}, {kIdB, 300'000}})}},
      {"none left",
       {count("0"), leases({{kIdB, 300'000}})},
       acquire(kA),
       number(300'000),
       {count("0"), leases({{kIdB, 300'000}})}},
      {"none left, counted",
       {count("0"), leases({{kIdB, 300'000}})},
       acquire(kA, kLease, true),
       several({number(1), number(300'000), number(0)}),
       {count("0"), leases({{kIdB, 300'000}})}},
      {"too many",
       {count("1"), leases({{kIdB, 300'000}})},
       acquire(kTwo),
       number(300'000),
       {count("1"), leases({{kIdB, 300'000}})}},
      {"too many of all",
       {count("1")},
       acquire(kTwo),
       several({number(1), number(-1), number(-1), number(1)}),
       {count("1")}},
      {"too many of all, counted",
       {count("0"), leases({{kIdB, 300'000}})},
       acquire(kTwo, kLease, true),
       several({number(1), number(300'000), number(-1), number(1)}),
       {count("0"), leases({{kIdB, 300'000}})}},
      {"none left and none held",
       {count("0")},
       acquire(kA),
       several({number(1), number(-1), number(-1), number(0)}),
       {count("0")}},
      {"of no semaphore", {}, acquire(kA), number(-2), {}},
      {"of no semaphore, counted", {}, acquire(kA, kLease, true), several({number(1), number(-2), number(0)}), {}},
      {"of a semaphore that was removed while it was held",
       {leases({{kIdB, 300'000}})},
       acquire(kA),
       number(-2),
       {leases({{kIdB, 300'000}})}},
      {"again is not taken again",
       {count("1"), leases({{kIdA, 300'000}})},
       acquire(kA),
       granted({kIdA}),
       {count("1"), leases({{kIdA, 60'000}})}},
      {"again, and none left",
       {count("0"), leases({{kIdA, 30'000}, {kSecondOfA, 30'000}})},
       acquire(kTwo),
       granted({kIdA, kSecondOfA}),
       {count("0"), leases({{kIdA, 60'000}, {kSecondOfA, 60'000}})}},
      {"one that is over",
       {count("0"), leases({{kIdB, -20'000}})},
       acquire(kA),
       granted({kIdA}),
       {count("0"), leases({{kIdA, 60'000}})}},
      {"several that are over are told of",
       {count("0"), leases({{kIdB, -20'000}, {kSecondOfA, -30'000}})},
       acquire(kA),
       granted({kIdA}),
       {count("1"), leases({{kIdA, 60'000}})},
       {{kWake, "1"}}},
      {"those over are not enough",
       {count("0"), leases({{kIdB, -20'000}, {"0123456789abcdef", 300'000}})},
       acquire(kTwo),
       number(300'000),
       {count("1"), leases({{"0123456789abcdef", 300'000}})},
       {{kWake, "1"}}},
      {"those over of a semaphore that is gone make none", {leases({{kIdB, -20'000}})}, acquire(kA), number(-2), {}},
      {"those of older versions of Redisson are over too",
       {count("0"), leases({{"0123456789abcdef0123456789abcdef", -20'000}})},
       acquire(kA),
       granted({kIdA}),
       {count("0"), leases({{kIdA, 60'000}})}},
  };
}

std::vector<Row> release_rows() {
  return {
      {"one",
       {count("0"), leases({{kIdA, 30'000}, {kIdB, 30'000}})},
       release(kA),
       number(1),
       {count("1"), leases({{kIdB, 30'000}})},
       {{kWake, "1"}}},
      {"two",
       {count("1"), leases({{kIdA, 30'000}, {kSecondOfA, 30'000}})},
       release(kTwo),
       number(1),
       {count("3")},
       {{kWake, "3"}}},
      {"two, as a grant calls them",
       {count("1"), leases({{kIdA, 30'000}, {kSecondOfA, 30'000}})},
       release(kNamed),
       number(1),
       {count("3")},
       {{kWake, "3"}}},
      {"one of two is gone",
       {count("1"), leases({{kIdA, 30'000}})},
       release(kTwo),
       nil(),
       {count("2")},
       {{kWake, "2"}}},
      {"one of two is over",
       {count("1"), leases({{kIdA, 30'000}, {kSecondOfA, -20'000}})},
       release(kTwo),
       nil(),
       {count("3")},
       {{kWake, "3"}}},
      {"again", {count("1"), leases({{kIdB, 30'000}})}, release(kA), nil(), {count("1"), leases({{kIdB, 30'000}})}},
      {"more are held than should be", {count("-2"), leases({{kIdA, 30'000}})}, release(kA), number(0), {count("-1")}},
      {"of a semaphore that is gone", {leases({{kIdA, 30'000}})}, release(kA), number(0), {}},
      {"by nobody", {count("1")}, release({"nobody"}), nil(), {count("1")}},
      {"of a semaphore that is gone, by one that is named twice",
       {leases({{kIdA, 30'000}})},
       twice(wire::permits::release({{&kS, 1}, kA})),
       number(0),
       {}},
      {"by one that is named twice",
       {count("0"), leases({{kIdA, 30'000}})},
       twice(wire::permits::release({{&kS, 1}, kA})),
       number(1),
       {count("1")},
       {{kWake, "1"}}},
  };
}

std::vector<Row> renew_rows() {
  const State state{count("0"), leases({{kIdA, 30'000}, {kSecondOfA, 30'000}, {kIdB, -20'000}})};
  return {
      {"renew two permits of one hold",
       state,
       renew({{"S", kNamed.text}}),
       several({}),
       {count("0"), leases({{kIdA, 60'000}, {kSecondOfA, 60'000}, {kIdB, -20'000}})}},
      {"renew several",
       {count("0"), leases({{kIdA, 300'000}, {kIdB, 30'000}})},
       renew({{"S", wire::permits::shown(kIdA)},
              {"S", wire::permits::shown(kSecondOfA)},
              {"S", wire::permits::shown(kIdB)},
              {"other", wire::permits::shown(kIdB)}}),
       several({number(2), number(4)}),
       {count("0"), leases({{kIdA, 60'000}, {kIdB, 60'000}})}},
      {"renew puts off the end of the expiries",
       {count("0", 900'000), leases({{kIdA, 30'000}}, 40'000)},
       renew({{"S", wire::permits::shown(kIdA)}}),
       several({}),
       {count("0", 900'000), leases({{kIdA, 60'000}}, 60'000)}},
      {"renew leaves a later end",
       {leases({{kIdA, 30'000}}, 300'000)},
       renew({{"S", wire::permits::shown(kIdA)}}),
       several({}),
       {leases({{kIdA, 60'000}}, 300'000)}},
      {"renew one that is over", state, renew({{"S", wire::permits::shown(kIdB)}}), several({number(1)}), state},
      {"renew a hold of which one is gone",
       {count("0"), leases({{kIdA, 30'000}})},
       renew({{"S", kNamed.text}}),
       several({number(1)}),
       {count("0"), leases({{kIdA, 30'000}})}},
      {"renew a hold of which the first is gone",
       {count("0"), leases({{kSecondOfA, 30'000}})},
       renew({{"S", kNamed.text}}),
       several({number(1)}),
       {count("0"), leases({{kSecondOfA, 30'000}})}},
      {"renew nothing", state, renew({{"S", "nobody"}}), several({number(1)}), state},
      {"renew beside another type",
       {count("0"), {kLeases, list({"a"})}},
       renew({{"S", kNamed.text}}),
       several({number(1)}),
       {count("0"), {kLeases, list({"a"})}}},
  };
}

std::vector<Row> number_rows() {
  return {
      {"look at nothing", {}, look(), nil(), {}},
      {"look at a free one", {count("3")}, look(), several({number(3), number(0)}), {count("3")}},
      {"look, and those over are given back",
       {count("1"), leases({{kIdA, 30'000}, {kIdB, 300'000}, {kSecondOfA, -20'000}})},
       look(),
       several({number(2), number(2), word(kIdA), number(30'000), word(kIdB), number(300'000)}),
       {count("2"), leases({{kIdA, 30'000}, {kIdB, 300'000}})},
       {{kWake, "2"}}},
      {"look at the first",
       {count("0"), leases({{kIdA, 30'000}, {kIdB, 300'000}})},
       look(1),
       several({number(0), number(2), word(kIdA), number(30'000)}),
       {count("0"), leases({{kIdA, 30'000}, {kIdB, 300'000}})}},
      {"remove a free one", {count("3")}, remove(), number(1), {kept("c:9", "1")}, {{kWake, "1"}}},
      {"remove one that is held",
       {count("1", 600'000), leases({{kIdA, 30'000}, {kIdB, -20'000}}, 600'000)},
       remove(),
       number(1),
       {leases({{kIdA, 30'000}}, 600'000), kept("c:9", "1")},
       {{kWake, "1"}}},
      {"remove again, now that there is another",
       {count("3"), kept("c:9", "1")},
       remove(),
       number(1),
       {count("3"), kept("c:9", "1")}},
      {"remove without a key", {count("3")}, wire::permits::remove(kS), number(1), {}, {{kWake, "1"}}},
      {"remove what is gone", {leases({{kIdA, 30'000}})}, remove(), number(0), {leases({{kIdA, 30'000}})}},
      {"total of none", {}, total(4), number(4), {count("4"), kept("c:9", "4")}, {{kWake, "4"}}},
      {"total up",
       {count("1", 600'000), leases({{kIdA, 30'000}})},
       total(4),
       number(3),
       {count("3", 600'000), leases({{kIdA, 30'000}}), kept("c:9", "3")},
       {{kWake, "3"}}},
      {"total down below what is held",
       {count("1"), leases({{kIdA, 30'000}, {kIdB, 30'000}})},
       total(1),
       number(-1),
       {count("-1"), leases({{kIdA, 30'000}, {kIdB, 30'000}}), kept("c:9", "-1")}},
      {"total as it is",
       {count("1"), leases({{kIdA, 30'000}})},
       total(2),
       number(1),
       {count("1"), leases({{kIdA, 30'000}})}},
      {"total of none, to one", {}, total(1), number(1), {count("1"), kept("c:9", "1")}, {{kWake, "1"}}},
      {"total as it is, and one is over",
       {count("0"), leases({{kIdA, -20'000}})},
       total(1),
       number(1),
       {count("1")},
       {{kWake, "1"}}},
      {"total again, after others have added",
       {count("5"), kept("c:9", "2")},
       total(2),
       number(2),
       {count("5"), kept("c:9", "2")}},
      {"total of one that was removed while it was held",
       {leases({{kIdA, 30'000}, {kIdB, -20'000}})},
       total(4),
       number(3),
       {count("3"), leases({{kIdA, 30'000}}), kept("c:9", "3")},
       {{kWake, "3"}}},
      {"total of one that was removed while as many were held",
       {leases({{kIdA, 30'000}})},
       total(1),
       number(0),
       {count("0"), leases({{kIdA, 30'000}}), kept("c:9", "0")}},
      {"total of none, for a while",
       {},
       total_for(4),
       number(4),
       {count("4", 600'000), kept("c:9", "4")},
       {{kWake, "4"}}},
      {"total puts off an earlier end", {count("2", 300'000)}, total_for(2), number(2), {count("2", 600'000)}},
      {"total leaves a later end", {count("2", 900'000)}, total_for(2), number(2), {count("2", 900'000)}},
      {"total gives none an end that has none", {count("2")}, total_for(2), number(2), {count("2")}},
      {"set for a while", {}, set_for(4), number(1), {count("4", 600'000), kept("c:9", "1")}, {{kWake, "4"}}},
      {"set puts off an earlier end", {count("2", 300'000)}, set_for(4), number(0), {count("2", 600'000)}},
      {"set leaves a later end", {count("2", 900'000)}, set_for(4), number(0), {count("2", 900'000)}},
      {"set gives none an end that has none", {count("2")}, set_for(4), number(0), {count("2")}},
      {"set", {}, set(4), number(1), {count("4"), kept("c:9", "1")}, {{kWake, "4"}}},
      {"set again", {count("2"), kept("c:9", "1")}, set(4), number(1), {count("2"), kept("c:9", "1")}},
      {"set what is set", {count("0")}, set(4), number(0), {count("0")}},
      {"set what is set, and one is over",
       {count("0"), leases({{kIdA, -20'000}})},
       set(4),
       number(0),
       {count("1")},
       {{kWake, "1"}}},
      {"set one that was removed while it was held",
       {leases({{kIdA, 30'000}})},
       set(1),
       number(1),
       {count("0"), leases({{kIdA, 30'000}}), kept("c:9", "1")}},
      {"add to none", {}, add(3), number(3), {count("3"), kept("c:9", "3")}, {{kWake, "3"}}},
      {"add again", {count("3"), kept("c:9", "3")}, add(3), number(3), {count("3"), kept("c:9", "3")}},
      {"add",
       {count("1", 600'000), leases({{kIdA, 30'000}})},
       add(2),
       number(3),
       {count("3", 600'000), leases({{kIdA, 30'000}}), kept("c:9", "3")},
       {{kWake, "3"}}},
      {"add less than none",
       {count("1"), leases({{kIdA, 30'000}})},
       add(-2),
       number(-1),
       {count("-1"), leases({{kIdA, 30'000}}), kept("c:9", "-1")}},
      {"add to one that was removed while it was held",
       {leases({{kIdA, 30'000}})},
       add(3),
       number(2),
       {count("2"), leases({{kIdA, 30'000}}), kept("c:9", "2")},
       {{kWake, "2"}}},
      {"force all",
       {count("1"), leases({{kIdA, 30'000}, {kIdB, 30'000}})},
       force(),
       number(1),
       {count("3")},
       {{kWake, "3"}}},
      {"force one",
       {count("1"), leases({{kIdA, 30'000}, {kIdB, 30'000}})},
       force(kB),
       number(1),
       {count("2"), leases({{kIdA, 30'000}})},
       {{kWake, "2"}}},
      {"force one that is named twice",
       {count("0"), leases({{kIdB, 30'000}})},
       twice(force(kB)),
       number(1),
       {count("1")},
       {{kWake, "1"}}},
      {"force nobody",
       {count("1"), leases({{kIdA, 30'000}})},
       force(wire::Owner{"nobody"}),
       number(0),
       {count("1"), leases({{kIdA, 30'000}})}},
      {"force none", {count("1")}, force(), number(0), {count("1")}},
      {"has it",
       {count("1"), leases({{kIdA, 30'000}})},
       wire::permits::has_owner(wire::permits::expiries("S"), kB),
       nil(),
       {count("1"), leases({{kIdA, 30'000}})}},
  };
}

std::vector<Row> stranger_rows() {
  const std::vector<std::tuple<std::string, State, std::string>> strangers{
      {"a word", {{"S", text("many")}}, "a string that is no number"},
      {"a lock", {{"S", hash({{kA.text, "1"}}, 60'000)}}, "a lock of another kind, with one owner at a time"},
      {"a list of expiries",
       {count("1"), {kLeases, list({"a"})}},
       "a leased semaphore whose permits are no sorted set"},
  };
  const std::vector<std::pair<std::string, base::Command>> calls{
      {"acquire", acquire(kA)}, {"release", release(kA)}, {"look", look()},  {"total", total(1)},
      {"set", set(1)},          {"add", add(1)},          {"force", force()}};
  std::vector<Row> rows;
  for (const auto& [title, state, called] : strangers) {
    for (const auto& [what, call] : calls) {
      rows.push_back({what + " of " + title, state, call, refused(called), state});
    }
  }
  return rows;
}

class PermitsTable : public Table {};
TEST_P(PermitsTable, holds) { expect_row(); }
INSTANTIATE_TEST_SUITE_P(Acquire, PermitsTable, testing::ValuesIn(acquire_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Release, PermitsTable, testing::ValuesIn(release_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Renew, PermitsTable, testing::ValuesIn(renew_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Number, PermitsTable, testing::ValuesIn(number_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, PermitsTable, testing::ValuesIn(stranger_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::permits_table_test
