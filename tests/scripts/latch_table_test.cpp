// SPDX-License-Identifier: Apache-2.0
// The latch's scripts as a table.
#include "scripts/counting_state.hpp"

namespace holdfast::test::latch_table_test {
namespace {

using namespace counting;
using namespace table;

base::Command set(long long count) { return wire::latch::set({kGate, count, once("c:9")}); }
base::Command down(long long count) { return wire::latch::count_down({kGate, count, once("c:9")}); }
const base::Command kRemove = wire::latch::remove({kGate, once("c:9")});

Reply error(std::string words) { return {Reply::Kind::error, 0, std::move(words), {}}; }

std::vector<Row> latch_rows() {
  return {
      {"set", {}, set(3), number(1), {count("3"), kept("c:9", "1")}, {{kOpened, "1"}}},
      {"set what is there", {count("2")}, set(3), number(0), {count("2")}},
      {"set what Redisson has set to zero", {count("0")}, set(3), number(0), {count("0")}},
      {"set again", {count("2"), kept("c:9", "1")}, set(3), number(1), {count("2"), kept("c:9", "1")}},
      {"set again, once it is open", {kept("c:9", "1")}, set(3), number(1), {kept("c:9", "1")}},
      {"set to zero", {}, set(0), error("ERR a latch counts down from 1 at least"), {}},
      {"set without a key", {}, wire::latch::set({kGate, 3}), number(1), {count("3")}, {{kOpened, "1"}}},
      {"down", {count("3")}, down(1), number(2), {count("2"), kept("c:9", "2")}},
      {"down to zero", {count("3")}, down(3), number(0), {kept("c:9", "0")}, {{kOpened, "0"}}},
      {"down further than to zero", {count("3")}, down(5), number(0), {kept("c:9", "0")}, {{kOpened, "0"}}},
      {"down on nothing", {}, down(1), number(0), {kept("c:9", "0")}},
      {"down on nothing again, now that there is one",
       {count("3"), kept("c:9", "0")},
       down(1),
       number(0),
       {count("3"), kept("c:9", "0")}},
      {"down on a zero of Redisson", {count("0")}, down(1), number(0), {kept("c:9", "0")}},
      {"down again", {count("2"), kept("c:9", "2")}, down(1), number(2), {count("2"), kept("c:9", "2")}},
      {"down without a key", {count("3")}, wire::latch::count_down({kGate, 1}), number(2), {count("2")}},
      {"remove", {count("3")}, kRemove, number(1), {kept("c:9", "1")}, {{kOpened, "1"}}},
      {"remove again, now that there is another",
       {count("3"), kept("c:9", "1")},
       kRemove,
       number(1),
       {count("3"), kept("c:9", "1")}},
      {"remove without a key", {count("3")}, wire::latch::remove({kGate}), number(1), {}, {{kOpened, "1"}}},
      {"remove nothing", {}, kRemove, number(0), {}},
      {"count", {count("3")}, wire::latch::count("S"), word("3"), {count("3")}},
  };
}

std::vector<Row> stranger_rows() {
  const std::vector<std::tuple<std::string, Value, std::string>> strangers{
      {"a word", text("many"), "a string that is no number"},
      {"a lock", hash({{kA.text, "1"}}, 60'000), "a lock of another kind, with one owner at a time"},
      {"a list", list({"a"}), "a list"},
  };
  std::vector<Row> rows;
  for (const auto& [title, value, called] : strangers) {
    for (const auto& [what, call] :
         {std::pair("set", set(1)), std::pair("down", down(1)), std::pair("remove", kRemove)}) {
      const State state{{"S", value}};
      rows.push_back({std::string(what) + " of " + title, state, call, refused(called), state});
    }
  }
  return rows;
}

class LatchTable : public Table {};
TEST_P(LatchTable, holds) { expect_row(); }
INSTANTIATE_TEST_SUITE_P(Rows, LatchTable, testing::ValuesIn(latch_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, LatchTable, testing::ValuesIn(stranger_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::latch_table_test
