// SPDX-License-Identifier: Apache-2.0
// The semaphore's scripts as a table.
#include "scripts/counting_state.hpp"

namespace holdfast::test::semaphore_table_test {
namespace {

using namespace counting;
using namespace table;
using counting::semaphore::acquire;
using counting::semaphore::release;
using counting::semaphore::undo;

const std::string kTaken = kA.text + ":acquire", kGiven = kA.text + ":release";

base::Command plain_acquire(const wire::Owner& owner) { return wire::semaphore::acquire({{&kS, 1}, owner, kLease}); }
base::Command plain_release(const wire::Owner& owner) { return wire::semaphore::release({{&kS, 1}, owner}); }
base::Command add(long long permits) { return wire::semaphore::add({kS, permits, once("c:9")}); }
base::Command set(long long permits, std::optional<milliseconds> lives = {}) {
  return wire::semaphore::set({kS, permits, once("c:9")}, lives);
}
base::Command remove() { return wire::semaphore::remove(kS, once("c:9")); }
base::Command drain() { return wire::semaphore::drain(kS, once("c:9")); }

std::vector<Row> acquire_rows() {
  return {
      {"one of five", {count("5")}, acquire(kA), nil(), {count("4"), kept(kTaken, "")}},
      {"three of five", {count("5")}, acquire(of(kA, 3)), nil(), {count("2"), kept(kTaken, "")}},
      {"the last", {count("1")}, acquire(kA), nil(), {count("0"), kept(kTaken, "")}},
      {"the time to live stays", {count("5", 600'000)}, acquire(kA), nil(), {count("4", 600'000), kept(kTaken, "")}},
      {"too many", {count("2")}, acquire(of(kA, 3)), number(-1), {count("2")}},
      {"none left", {count("0")}, acquire(kA), number(-1), {count("0")}},
      {"fewer than none", {count("-3")}, acquire(kA), number(-1), {count("-3")}},
      {"of no semaphore", {}, acquire(kA), number(-2), {}},
      {"of no semaphore, counted", {}, acquire(kA, true), several({number(1), number(-2), number(0)}), {}},
      {"none left, counted",
       {count("0")},
       acquire(kA, true),
       several({number(1), number(-1), number(0)}),
       {count("0")}},
      {"without a key", {count("5")}, plain_acquire(of(kA, 2)), nil(), {count("3")}},
      {"again is not taken again", {count("4"), kept(kTaken, "")}, acquire(kA), nil(), {count("4"), kept(kTaken, "")}},
      {"again, and none left", {count("0"), kept(kTaken, "")}, acquire(kA), nil(), {count("0"), kept(kTaken, "")}},
      {"again after its release",
       {count("5"), kept(kTaken, ""), kept(kGiven, "0")},
       acquire(kA),
       nil(),
       {count("5"), kept(kTaken, ""), kept(kGiven, "0")}},
      {"late, after it was given up",
       {count("5"), kept(kTaken, "-1")},
       acquire(kA),
       number(-1),
       {count("5"), kept(kTaken, "-1")}},
      {"beside another owner's",
       {count("4"), kept(kTaken, "")},
       acquire(kB),
       nil(),
       {count("3"), kept(kTaken, ""), kept(kB.text + ":acquire", "")}},
  };
}

std::vector<Row> release_rows() {
  return {
      {"one", {count("0")}, release(kA), number(1), {count("1"), kept(kGiven, "1")}, {{kWake, "1"}}},
      {"three", {count("4")}, release(of(kA, 3)), number(1), {count("7"), kept(kGiven, "1")}, {{kWake, "7"}}},
      {"nobody is told of less than one",
       {count("-3")},
       release(of(kA, 2)),
       number(0),
       {count("-1"), kept(kGiven, "0")}},
      {"nor of none", {count("-2")}, release(of(kA, 2)), number(0), {count("0"), kept(kGiven, "0")}},
      {"the time to live stays",
       {count("0", 600'000)},
       release(kA),
       number(1),
       {count("1", 600'000), kept(kGiven, "1")},
       {{kWake, "1"}}},
      {"of a semaphore that is gone", {}, release(kA), nil(), {kept(kGiven, "")}},
      {"again, after it was made anew",
       {count("5"), kept(kGiven, "")},
       release(kA),
       nil(),
       {count("5"), kept(kGiven, "")}},
      {"again", {count("1"), kept(kGiven, "1")}, release(kA), number(1), {count("1"), kept(kGiven, "1")}},
      {"without a key", {count("1")}, plain_release(kA), number(1), {count("2")}, {{kWake, "2"}}},
      {"an undo of what was granted",
       {count("4"), kept(kTaken, "")},
       undo(kA),
       number(1),
       {count("5"), kept(kTaken, ""), kept(kGiven, "1")},
       {{kWake, "5"}}},
      {"an undo again",
       {count("5"), kept(kTaken, ""), kept(kGiven, "1")},
       undo(kA),
       number(1),
       {count("5"), kept(kTaken, ""), kept(kGiven, "1")}},
      {"an undo of what was not granted", {count("5")}, undo(kA), nil(), {count("5"), kept(kTaken, "-1")}},
      {"an undo of what was not granted, again",
       {count("5"), kept(kTaken, "-1")},
       undo(kA),
       nil(),
       {count("5"), kept(kTaken, "-1")}},
  };
}

std::vector<Row> number_rows() {
  return {
      {"add to none", {}, add(3), number(3), {count("3"), kept("c:9", "3")}, {{kWake, "3"}}},
      {"add", {count("2", 600'000)}, add(3), number(5), {count("5", 600'000), kept("c:9", "5")}, {{kWake, "5"}}},
      {"add fewer", {count("2")}, add(-5), number(-3), {count("-3"), kept("c:9", "-3")}},
      {"add to fewer than none", {count("-8")}, add(1), number(-7), {count("-7"), kept("c:9", "-7")}},
      {"add to as few as there can be",
       {count("-999999999999999")},
       add(1),
       number(-999'999'999'999'998),
       {count("-999999999999998"), kept("c:9", "-999999999999998")}},
      {"add again", {count("5"), kept("c:9", "5")}, add(3), number(5), {count("5"), kept("c:9", "5")}},
      {"set", {}, set(5), number(1), {count("5"), kept("c:9", "1")}, {{kWake, "5"}}},
      {"set with an end",
       {},
       set(5, milliseconds(600'000)),
       number(1),
       {count("5", 600'000), kept("c:9", "1")},
       {{kWake, "5"}}},
      {"set to none", {}, set(0), number(1), {count("0"), kept("c:9", "1")}},
      {"set what is there", {count("0")}, set(5), number(0), {count("0")}},
      {"remove", {count("3")}, remove(), number(1), {kept("c:9", "1")}, {{kWake, "1"}}},
      {"remove what none has set", {}, remove(), number(0), {}},
      {"set again", {count("5"), kept("c:9", "1")}, set(5), number(1), {count("5"), kept("c:9", "1")}},
      {"drain", {count("7", 600'000)}, drain(), number(7), {count("0", 600'000), kept("c:9", "7")}},
      {"drain fewer than none", {count("-7")}, drain(), number(-7), {count("0"), kept("c:9", "-7")}},
      {"drain the last", {count("1")}, drain(), number(1), {count("0"), kept("c:9", "1")}},
      {"drain none", {count("0")}, drain(), number(0), {count("0")}},
      {"drain nothing", {}, drain(), number(0), {}},
      {"drain again", {count("3"), kept("c:9", "7")}, drain(), number(7), {count("3"), kept("c:9", "7")}},
      {"available", {count("7")}, wire::semaphore::available("S"), word("7"), {count("7")}},
  };
}

std::vector<Row> stranger_rows() {
  const std::string lock = "a lock of another kind, with one owner at a time";
  const std::vector<std::tuple<std::string, Value, std::string>> strangers{
      {"an owner", text(kA.text, 60'000), "a string that is no number"},
      {"a word", text("many"), "a string that is no number"},
      {"a fraction", text("1.5"), "a string that is no number"},
      {"a number with a zero ahead", text("05"), "a string that is no number"},
      {"a number too long to count with", text("12345678901234567"), "a string that is no number"},
      {"an empty string", text(""), "a string that is no number"},
      {"a lock", hash({{kA.text, "1"}}, 60'000), lock},
      {"a list", list({"a"}), "a list"},
  };
  const std::vector<std::pair<std::string, base::Command>> calls{
      {"acquire", acquire(kA)}, {"release", release(kA)}, {"add", add(1)}, {"set", set(1)}, {"drain", drain()}};
  std::vector<Row> rows;
  for (const auto& [title, value, called] : strangers) {
    for (const auto& [what, call] : calls) {
      const State state{{"S", value}};
      rows.push_back({what + " of " + title, state, call, refused(called), state});
    }
  }
  return rows;
}

class SemaphoreTable : public Table {};
TEST_P(SemaphoreTable, holds) { expect_row(); }
INSTANTIATE_TEST_SUITE_P(Acquire, SemaphoreTable, testing::ValuesIn(acquire_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Release, SemaphoreTable, testing::ValuesIn(release_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Number, SemaphoreTable, testing::ValuesIn(number_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, SemaphoreTable, testing::ValuesIn(stranger_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::semaphore_table_test
