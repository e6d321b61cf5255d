// SPDX-License-Identifier: Apache-2.0
// The read-write lock's scripts as a table.
#include <tuple>

#include "scripts/read_write_state.hpp"

namespace holdfast::test::read_write_table_test {
namespace {

using namespace read_write;
using namespace table;

std::vector<Row> acquire_rows() {
  return {
      {"a reader takes a free lock", {}, read(kA), nil(), read_by(kA, 60'000)},
      {"a reader comes in beside another, whose longer lease stays", read_by(kB, 600'000), read(kA), nil(),
       two_readers(60'000, 600'000, 600'000)},
      {"a reader comes in beside another, whose shorter lease stays its own", read_by(kB, 30'000), read(kA), nil(),
       two_readers(60'000, 30'000, 60'000)},
      {"a reader again has one hold, and its lease again", read_by(kA, 30'000), read(kA), nil(), read_by(kA, 60'000)},
      {"a reader again cuts no lease of the lock", two_readers(30'000, 600'000, 600'000), read(kA), nil(),
       two_readers(60'000, 600'000, 600'000)},
      {"a reader beside a Redisson thread that reads twice leaves its holds alone",
       {{"L", hash({{"mode", "read"}, {kB.text, "2"}}, 90'000)},
        {hold(kB), text("1", 30'000)},
        {hold(kB, 2), text("1", 90'000)}},
       read(kA),
       nil(),
       {{"L", hash({{"mode", "read"}, {kB.text, "2"}, {kA.text, "1"}}, 90'000)},
        {hold(kB), text("1", 30'000)},
        {hold(kB, 2), text("1", 90'000)},
        {hold(kA), text("1", 60'000)}}},
      {"a reader gives an expiry to a read lock that has lost it",
       read_by(kB, kNoExpiry),
       read(kA),
       nil(),
       {{"L", hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "1"}}, 60'000)},
        {hold(kA), text("1", 60'000)},
        {hold(kB), text("1")}}},
      {"a reader waits for a writer", written_by(kB, 30'000), read(kA), number(30'000), written_by(kB, 30'000)},
      {"a reader waits for a writer that reads as well", both_ways(30'000, 30'000), read(kB), number(30'000),
       both_ways(30'000, 30'000)},
      {"a reader that waits learns how many listen and who writes", written_by(kB, 30'000), read(kA, true),
       several({number(1), number(30'000), number(0), word(kB.text)}), written_by(kB, 30'000)},
      {"a writer reads as well, and keeps its lease", written_by(kA, 600'000), read(kA), nil(),
       both_ways(60'000, 600'000)},
      {"a writer takes a free lock", {}, write(kA), nil(), written_by(kA, 60'000)},
      {"a writer waits for a writer", written_by(kB, 30'000), write(kA), number(30'000), written_by(kB, 30'000)},
      {"a writer waits for a reader", read_by(kB, 30'000), write(kA), number(30'000), read_by(kB, 30'000)},
      {"a writer waits for its own hold as a reader", read_by(kA, 30'000), write(kA), number(30'000),
       read_by(kA, 30'000)},
      {"a writer that waits learns how many listen and who reads", two_readers(30'000, 30'000, 30'000), write(kA, true),
       several({number(1), number(30'000), number(0), word(kB.text)}), two_readers(30'000, 30'000, 30'000)},
      {"a writer that reads, as does another, learns of the other", two_readers(30'000, 30'000, 30'000),
       write(kB, true), several({number(1), number(30'000), number(0), word(kA.text)}),
       two_readers(30'000, 30'000, 30'000)},
      {"a writer again has one hold, and its lease again", written_by(kA, 30'000), write(kA), nil(),
       written_by(kA, 60'000)},
      {"a writers leases do not add up, nor does its lease fall", written_by(kA, 600'000), write(kA), nil(),
       written_by(kA, 600'000)},
      {"a writer again gives an expiry to a hold that has lost it", written_by(kA, kNoExpiry), write(kA), nil(),
       written_by(kA, 60'000)},
      {"a writer waits for a Redisson thread that writes twice",
       {{"L", hash({{"mode", "write"}, {kWriteB, "2"}}, 30'000)}},
       write(kA),
       number(30'000),
       {{"L", hash({{"mode", "write"}, {kWriteB, "2"}}, 30'000)}}},
  };
}

std::vector<Row> downgrade_rows() {
  return {
      {"a writer goes on as a reader, and all who wait are woken",
       written_by(kA, 30'000),
       downgrade(kA, kA),
       number(1),
       read_by(kA, 60'000),
       {{kWake, "1"}}},
      {"a writer goes on as a reader of another number",
       written_by(kA, 30'000),
       downgrade(kA, kC),
       number(1),
       read_by(kC, 60'000),
       {{kWake, "1"}}},
      {"a writer that reads as well goes on as that",
       both_ways(600'000, 600'000),
       downgrade(kA, kA),
       number(1),
       read_by(kA, 60'000),
       {{kWake, "1"}}},
      {"a writers lease is over with its hold",
       written_by(kA, 600'000),
       downgrade(kA, kA),
       number(1),
       read_by(kA, 60'000),
       {{kWake, "1"}}},
      {"a downgrade again sets the lease again and wakes nobody", read_by(kA, 30'000), downgrade(kA, kA), number(0),
       read_by(kA, 60'000)},
      {"a downgrade again cuts nobodys lease", two_readers(30'000, 600'000, 600'000), downgrade(kA, kA), number(0),
       two_readers(60'000, 600'000, 600'000)},
      {"a downgrade of a lock that is free", {}, downgrade(kA, kA), nil(), {}},
      {"a downgrade of a lock that another writes", written_by(kB, 30'000), downgrade(kA, kA), nil(),
       written_by(kB, 30'000)},
      {"a downgrade of a lock that another reads", read_by(kB, 30'000), downgrade(kA, kA), nil(), read_by(kB, 30'000)},
  };
}

std::vector<Row> release_rows() {
  return {
      {"the last reader frees and wakes", read_by(kA, 30'000), end_read(kA), number(1), {}, {{kWake, "0"}}},
      {"a reader leaves another, whose lease is the locks from then on", two_readers(600'000, 60'000, 600'000),
       end_read(kA), number(0), read_by(kB, 60'000)},
      {"a reader leaves another whose lease was cut, and mends it", two_readers(30'000, 600'000, 30'000), end_read(kA),
       number(0), read_by(kB, 600'000)},
      {"a reader leaves one whose lease is over, so nobody is left",
       {{"L", hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "1"}}, 30'000)}, {hold(kA), text("1", 30'000)}},
       end_read(kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"a reader leaves a Redisson thread that reads three times, for as long as its longest hold",
       {{"L", hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "3"}}, 600'000)},
        {hold(kA), text("1", 600'000)},
        {hold(kB), text("1", 30'000)},
        {hold(kB, 2), text("1", 90'000)},
        {hold(kB, 3), text("1", 30'000)}},
       end_read(kA),
       number(0),
       {{"L", hash({{"mode", "read"}, {kB.text, "3"}}, 90'000)},
        {hold(kB), text("1", 30'000)},
        {hold(kB, 2), text("1", 90'000)},
        {hold(kB, 3), text("1", 30'000)}}},
      {"a reader releases a lock that is free", {}, end_read(kA), nil(), {}},
      {"a reader releases what another reads", read_by(kB, 30'000), end_read(kA), nil(), read_by(kB, 30'000)},
      {"a reader releases what it writes", written_by(kA, 30'000), end_read(kA), nil(), written_by(kA, 30'000)},
      {"a writer gives its read hold back and its own lease stays", both_ways(30'000, 600'000), end_read(kA), number(0),
       written_by(kA, 600'000)},
      {"a writer gives one of a Redisson threads read holds back, and the lease stays",
       {{"L", hash({{"mode", "write"}, {kWriteA, "1"}, {kA.text, "1"}, {kB.text, "1"}}, 600'000)},
        {hold(kA), text("1", 30'000)},
        {hold(kB), text("1", 30'000)}},
       end_read(kA),
       number(0),
       {{"L", hash({{"mode", "write"}, {kWriteA, "1"}, {kB.text, "1"}}, 600'000)}, {hold(kB), text("1", 30'000)}}},
      {"a reader is the last of a lock that nobody writes, whatever its mode says",
       {{"L", hash({{"mode", "write"}, {kA.text, "1"}}, 30'000)}, {hold(kA), text("1", 30'000)}},
       end_read(kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"a writer frees and wakes all", written_by(kA, 30'000), end_write(kA), number(1), {}, {{kWake, "1"}}},
      {"a writer that reads as well wakes all, and its longer read lease is the locks",
       both_ways(600'000, 30'000),
       end_write(kA),
       number(1),
       read_by(kA, 600'000),
       {{kWake, "1"}}},
      {"a writer that reads as well wakes all, and its shorter read lease is the locks",
       both_ways(30'000, 600'000),
       end_write(kA),
       number(1),
       read_by(kA, 30'000),
       {{kWake, "1"}}},
      {"a writer whose read lease is over leaves nothing",
       {{"L", hash({{"mode", "write"}, {kWriteA, "1"}, {kA.text, "1"}}, 30'000)}},
       end_write(kA),
       number(1),
       {},
       {{kWake, "1"}}},
      {"a writer releases a lock that is free", {}, end_write(kA), nil(), {}},
      {"a writer releases what another writes", written_by(kB, 30'000), end_write(kA), nil(), written_by(kB, 30'000)},
      {"a writer releases what it reads", read_by(kA, 30'000), end_write(kA), nil(), read_by(kA, 30'000)},
  };
}

std::vector<Row> renew_rows() {
  return {
      {"a reader alone", read_by(kA, 30'000), rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease), several({}),
       read_by(kA, 60'000)},
      {"a reader alone, to a shorter lease", read_by(kA, 600'000),
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease), several({}), read_by(kA, 60'000)},
      {"a reader beside one with a longer lease, which is not cut", two_readers(30'000, 600'000, 600'000),
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease), several({}), two_readers(60'000, 600'000, 600'000)},
      {"a reader beside one that nobody renews any more", two_readers(30'000, 30'000, 30'000),
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease), several({}), two_readers(60'000, 30'000, 60'000)},
      {"a reader whose own time was over while it was not alone",
       {{"L", hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "1"}}, 30'000)}, {hold(kB), text("1", 30'000)}},
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease),
       several({}),
       two_readers(60'000, 30'000, 60'000)},
      {"a writer alone", written_by(kA, 30'000), rw::renew({{"L", kA.text}}, kLease), several({}),
       written_by(kA, 60'000)},
      {"a writer alone, to a shorter lease", written_by(kA, 600'000), rw::renew({{"L", kA.text}}, kLease), several({}),
       written_by(kA, 60'000)},
      {"a writer whose read hold lasts longer", both_ways(600'000, 600'000), rw::renew({{"L", kA.text}}, kLease),
       several({}), both_ways(600'000, 600'000)},
      {"a writers read hold, whose lock lasts longer", both_ways(30'000, 600'000),
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease), several({}), both_ways(60'000, 600'000)},
      {"what is not ours, and what is",
       {{"a", hash({{"mode", "write"}, {kWriteB, "1"}}, 30'000)},
        {"b", hash({{"mode", "write"}, {kWriteA, "1"}}, 30'000)},
        {"c", text("text")},
        {"e", hash({{"mode", "read"}, {kA.text, "1"}}, 30'000)}},
       rw::renew({{"a", kA.text}, {"b", kA.text}, {"c", kA.text}, {"d", kA.text}, {"e", kA.text}}, kLease),
       several({number(1), number(3), number(4), number(5)}),
       {{"a", hash({{"mode", "write"}, {kWriteB, "1"}}, 30'000)},
        {"b", hash({{"mode", "write"}, {kWriteA, "1"}}, 60'000)},
        {"c", text("text")},
        {"e", hash({{"mode", "read"}, {kA.text, "1"}}, 30'000)}}},
      {"a reader behind a writer that has lost it", read_by(kA, 30'000),
       rw::renew({{"gone", kA.text}, {"L", kA.text, wire::Mode::shared}}, kLease), several({number(1)}),
       read_by(kA, 60'000)},
      {"a reader does not bring a lost lock back",
       {},
       rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease),
       several({number(1)}),
       {}},
      {"nothing", {}, rw::renew({}, kLease), several({}), {}},
  };
}

std::vector<Row> force_rows() {
  return {
      {"force takes all readers and wakes",
       two_readers(30'000, 60'000, 60'000),
       rw::force_release(kL),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force takes a Redisson threads holds, one by one",
       {{"L", hash({{"mode", "read"}, {kB.text, "2"}}, 30'000)},
        {hold(kB), text("1", 30'000)},
        {hold(kB, 2), text("1", 30'000)}},
       rw::force_release(kL),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force takes a writer and wakes all",
       written_by(kA, 30'000),
       rw::force_release(kL),
       number(1),
       {},
       {{kWake, "1"}}},
      {"force takes a writer that reads as well",
       both_ways(60'000, 60'000),
       rw::force_release(kL),
       number(1),
       {},
       {{kWake, "1"}}},
      {"force takes a writer whose lock never ends",
       {{"L", hash({{"mode", "write"}, {kWriteB, "1"}}, kNoExpiry)}},
       rw::force_release(kL, kB),
       number(1),
       {},
       {{kWake, "1"}}},
      {"force takes one of two readers of a lock that never ends, which then ends with the other",
       {{"L", hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "1"}}, kNoExpiry)},
        {hold(kA), text("1", 60'000)},
        {hold(kB), text("1", 30'000)}},
       rw::force_release(kL, kA),
       number(1),
       read_by(kB, 30'000)},
      {"a look at a writer whose lock never ends",
       {{"L", hash({{"mode", "write"}, {kWriteB, "1"}}, kNoExpiry)}},
       rw::holders("L"),
       several({word("write"), number(-1), word(kWriteB), word("1"), number(-1)}),
       {{"L", hash({{"mode", "write"}, {kWriteB, "1"}}, kNoExpiry)}}},
      {"force on a free lock", {}, rw::force_release(kL), number(0), {}},
      {"force takes one of two readers and leaves the lock as long as the other", two_readers(600'000, 60'000, 600'000),
       rw::force_release(kL, kA), number(1), read_by(kB, 60'000)},
      {"force takes the named writer with its read hold",
       both_ways(60'000, 60'000),
       rw::force_release(kL, kA),
       number(1),
       {},
       {{kWake, "1"}}},
      {"force takes the named reader that is the last",
       read_by(kA, 60'000),
       rw::force_release(kL, kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force from one who has nothing", two_readers(30'000, 60'000, 60'000), rw::force_release(kL, kC), number(0),
       two_readers(30'000, 60'000, 60'000)},
      {"a look at a free lock", {}, rw::holders("L"), nil(), {}},
      {"a look at a writer that reads as well", both_ways(60'000, 600'000), rw::holders("L"),
       several({word("write"), number(600'000), word(kA.text), word("1"), number(60'000), word(kWriteA), word("1"),
                number(600'000)}),
       both_ways(60'000, 600'000)},
      {"a look at a reader whose time is over",
       {{"L", hash({{"mode", "read"}, {kA.text, "3"}}, 60'000)}},
       rw::holders("L"),
       several({word("read"), number(60'000), word(kA.text), word("3"), number(-2)}),
       {{"L", hash({{"mode", "read"}, {kA.text, "3"}}, 60'000)}}},
  };
}

/// What is no read-write lock is named, and left alone.
std::vector<Row> stranger_rows() {
  const std::string other_kind = "a lock of another kind, with one owner at a time";
  const std::vector<std::tuple<std::string, Value, std::string>> strangers{
      {"a plain lock", hash({{kB.text, "1"}}, 30'000), other_kind},
      {"somebodys data", hash({{"name", "bob"}, {"email", "b"}, {"mode", "read"}}, 30'000),
       "a hash of 3 fields that is no lock"},
      {"a mode alone", hash({{"mode", "read"}}, 30'000), "a hash of one field that is no lock"},
      {"holds without a mode", hash({{kB.text, "1"}, {kC.text, "1"}}, 30'000), "a hash of 2 fields that is no lock"},
      {"a hold beside what is none", hash({{kB.text, "1"}, {"mode", "read"}, {"name", "bob"}}, 30'000),
       "a hash of 3 fields that is no lock"},
      {"another mode", hash({{kB.text, "1"}, {"mode", "fast"}}, 30'000), "a hash of 2 fields that is no lock"},
      {"a string", text("7"), "a string, as a SimpleLock, a semaphore or a count-down latch is"},
      {"a list", list({"a"}), "a list"},
  };
  const std::vector<std::pair<std::string, base::Command>> calls{{"a reader", read(kA)},
                                                                 {"a writer", write(kA)},
                                                                 {"a writer that counts", write(kA, true)},
                                                                 {"force", rw::force_release(kL)},
                                                                 {"force from an owner", rw::force_release(kL, kB)},
                                                                 {"a look", rw::holders("L")}};
  std::vector<Row> rows;
  for (const auto& [title, value, called] : strangers) {
    for (const auto& [what, call] : calls) {
      const State state{{"L", value}};
      rows.push_back({what + " on " + title, state, call, refused(called), state});
    }
  }
  // Nobody may wait for what nothing ends; it is shown, and taken by force.
  const State eternal{{"L", hash({{"mode", "write"}, {kWriteB, "1"}}, kNoExpiry)}};
  for (const auto& [what, call] : {calls[0], calls[1], calls[2]}) {
    rows.push_back({what + " on a write lock without an expiry", eternal, call,
                    refused("a read-write lock without an expiry, so nothing ends it; PEXPIRE gives it one"), eternal});
  }
  return rows;
}

class ReadWriteTable : public Table {};
TEST_P(ReadWriteTable, holds) { expect_row(); }
INSTANTIATE_TEST_SUITE_P(Acquire, ReadWriteTable, testing::ValuesIn(acquire_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Downgrade, ReadWriteTable, testing::ValuesIn(downgrade_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Release, ReadWriteTable, testing::ValuesIn(release_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Renew, ReadWriteTable, testing::ValuesIn(renew_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Force, ReadWriteTable, testing::ValuesIn(force_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, ReadWriteTable, testing::ValuesIn(stranger_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::read_write_table_test
