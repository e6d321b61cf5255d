// SPDX-License-Identifier: Apache-2.0
// The lock's scripts as a table: (state, call) -> (reply, state, messages), each row sent by text and by hash.
#include <cctype>
#include <map>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "scripts/script_call.hpp"
#include "support/listen.hpp"

namespace holdfast::test::lock_table_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr milliseconds kLease{60'000};
constexpr long long kNoExpiry = -1;
/// What node-redisson writes.
const wire::Owner kNodes{"88888888-2222-4333-8444-555555555555:99999999-2222-4333-8444-555555555555"};
// Times to live run down while a test runs. Rows use values much further apart than this.
constexpr long long kSlack = 15'000;

struct Hash {
  std::map<std::string, std::string> fields;
  long long ttl = kNoExpiry;
};
using State = std::map<std::string, Hash>;

/// A reply: exact, or a time to live that may have run down a little.
struct Expected {
  Reply reply;
  bool is_ttl = false;
};

Expected nil() { return {}; }
Expected number(long long value) {
  return {{.kind = Reply::Kind::integer, .integer = value, .text = {}, .elements = {}}};
}
Expected ttl(long long value) { return {number(value).reply, true}; }
Expected list(const std::vector<long long>& values) {
  Expected out{{.kind = Reply::Kind::array, .integer = 0, .text = {}, .elements = {}}};
  for (const long long value : values) out.reply.elements.push_back(number(value).reply);
  return out;
}

/// `ttl`, `heard` and `holder` of a lock that is taken.
Expected busy(long long ttl, long long heard, const std::string& holder) {
  Expected out = list({1, ttl, heard});
  out.reply.elements.push_back({.kind = Reply::Kind::text, .integer = 0, .text = holder, .elements = {}});
  return out;
}
Expected seen(const wire::Owner& owner, const std::string& count) {
  Expected out{{.kind = Reply::Kind::array, .integer = 0, .text = {}, .elements = {}}};
  for (const std::string& text : {owner.text, count}) {
    out.reply.elements.push_back({.kind = Reply::Kind::text, .integer = 0, .text = text, .elements = {}});
  }
  return out;
}
Expected refused(const std::string& found) {
  return {{.kind = Reply::Kind::error, .integer = 0, .text = "WRONGTYPE it is " + found, .elements = {}}};
}

struct Row {
  std::string title;
  State before;
  base::Command call;
  Expected reply;
  State after;
  std::vector<Message> messages{};
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.title; }

const wire::LockNames kL = wire::lock::names("L");
const std::string kWake = "redisson_lock__channel:{L}";

Hash held_by(const wire::Owner& owner, long long time_to_live, const std::string& count = "1") {
  return {{{owner.text, count}}, time_to_live};
}

std::vector<Row> acquire_rows() {
  return {
      {"acquire of a free lock is granted", {}, lock::acquire(kL, kA, kLease), nil(), {{"L", held_by(kA, 60'000)}}},
      {"acquire of a lock that another has tells its time to live",
       {{"L", held_by(kA, 30'000)}},
       lock::acquire(kL, kB, kLease),
       ttl(30'000),
       {{"L", held_by(kA, 30'000)}}},
      {"acquire of a lock that another has tells how many listen, and who has it, if that is asked",
       {{"L", held_by(kA, 30'000)}},
       lock::acquire(kL, kB, kLease, true),
       busy(30'000, 0, kA.text),
       {{"L", held_by(kA, 30'000)}}},
      {"acquire of a free lock is granted, whoever listens",
       {},
       lock::acquire(kL, kA, kLease, true),
       nil(),
       {{"L", held_by(kA, 60'000)}}},
      {"acquire of a lock that node-redisson has waits for it",
       {{"L", held_by(kNodes, 30'000)}},
       lock::acquire(kL, kB, kLease, true),
       busy(30'000, 0, kNodes.text),
       {{"L", held_by(kNodes, 30'000)}}},
      {"acquire of a lock that another has by a number below 0, made up by a caller of Redisson",
       {{"L", {{{kA.text.substr(0, 37) + "-7", "1"}}, 30'000}}},
       lock::acquire(kL, kB, kLease),
       ttl(30'000),
       {{"L", {{{kA.text.substr(0, 37) + "-7", "1"}}, 30'000}}}},
      {"acquire of a lock that a Redisson thread holds twice leaves its count alone",
       {{"L", held_by(kA, 30'000, "2")}},
       lock::acquire(kL, kB, kLease),
       ttl(30'000),
       {{"L", held_by(kA, 30'000, "2")}}},
      {"a repeated acquire is granted, keeps the count and raises the lease",
       {{"L", held_by(kA, 30'000)}},
       lock::acquire(kL, kA, kLease),
       nil(),
       {{"L", held_by(kA, 60'000)}}},
      {"a repeated acquire lowers the lease too",
       {{"L", held_by(kA, 600'000)}},
       lock::acquire(kL, kA, kLease),
       nil(),
       {{"L", held_by(kA, 60'000)}}},
      {"a repeated acquire gives an expiry to a hold that has lost it",
       {{"L", held_by(kA, kNoExpiry)}},
       lock::acquire(kL, kA, kLease),
       nil(),
       {{"L", held_by(kA, 60'000)}}},
      {"acquire with the longest lease of ten years",
       {},
       lock::acquire(kL, kA, milliseconds(315'360'000'000)),
       nil(),
       {{"L", held_by(kA, 315'360'000'000)}}},
      {"acquire leaves the other locks alone",
       {{"M", held_by(kB, 30'000)}},
       lock::acquire(kL, kA, kLease),
       nil(),
       {{"L", held_by(kA, 60'000)}, {"M", held_by(kB, 30'000)}}},
  };
}

std::vector<Row> release_rows() {
  return {
      {"release by the owner frees and wakes",
       {{"L", held_by(kA, 30'000)}},
       lock::release(kL, kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"release of a hold without expiry frees and wakes",
       {{"L", held_by(kA, kNoExpiry)}},
       lock::release(kL, kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"release of a free lock changes nothing and wakes nobody", {}, lock::release(kL, kA), nil(), {}},
      {"release by a stranger changes nothing and wakes nobody",
       {{"L", held_by(kA, 30'000)}},
       lock::release(kL, kB),
       nil(),
       {{"L", held_by(kA, 30'000)}}},
      {"release by a stranger leaves a Redisson thread's two holds",
       {{"L", held_by(kA, 30'000, "2")}},
       lock::release(kL, kB),
       nil(),
       {{"L", held_by(kA, 30'000, "2")}}},
      {"release leaves the other locks alone",
       {{"L", held_by(kA, 30'000)}, {"M", held_by(kA, 60'000)}},
       lock::release(kL, kA),
       number(1),
       {{"M", held_by(kA, 60'000)}},
       {{kWake, "0"}}},
      {"force release takes the lock from whoever has it and wakes",
       {{"L", held_by(kA, 30'000)}},
       wire::lock::force_release(kL),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force release takes all holds of a Redisson thread",
       {{"L", held_by(kA, 30'000, "2")}},
       wire::lock::force_release(kL),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force release of a free lock says so and wakes nobody", {}, wire::lock::force_release(kL), number(0), {}},
      {"force release from its owner takes the lock and wakes",
       {{"L", held_by(kA, 30'000)}},
       wire::lock::force_release(kL, kA),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force release takes a lock of node-redissons",
       {{"L", held_by(kNodes, 30'000)}},
       wire::lock::force_release(kL),
       number(1),
       {},
       {{kWake, "0"}}},
      {"force release from another owner changes nothing and wakes nobody",
       {{"L", held_by(kA, 30'000)}},
       wire::lock::force_release(kL, kB),
       number(0),
       {{"L", held_by(kA, 30'000)}}},
      {"force release from an owner without a name changes nothing",
       {{"L", held_by(kA, 30'000)}},
       wire::lock::force_release(kL, wire::Owner{}),
       number(0),
       {{"L", held_by(kA, 30'000)}}},
  };
}

std::vector<Row> renew_rows() {
  const State many{{"a", held_by(kA, 30'000)},
                   {"b", held_by(kB, 30'000)},
                   {"c", held_by(kA, 30'000)},
                   {"d", held_by(kA, 900'000)},
                   {"e", held_by(kA, kNoExpiry)}};
  State renewed = many;
  renewed["a"].ttl = 60'000;
  renewed["c"].ttl = 60'000;
  renewed["d"].ttl = 60'000;
  renewed["e"].ttl = 60'000;
  return {
      {"renewal of a held and of an absent lock",
       {{"a", held_by(kA, 30'000)}},
       wire::lock::renew({{"a", kA.text}, {"x", kA.text}}, kLease),
       list({2}),
       {{"a", held_by(kA, 60'000)}}},
      {"renewal of many skips what is not ours", many,
       wire::lock::renew(
           {{"a", kA.text}, {"b", kA.text}, {"x", kA.text}, {"c", kA.text}, {"d", kA.text}, {"e", kA.text}}, kLease),
       list({2, 3}), renewed},
      {"renewal for different owners in one batch",
       {{"a", held_by(kA, 30'000)}, {"b", held_by(kB, 30'000)}},
       wire::lock::renew({{"a", kA.text}, {"b", kB.text}}, kLease),
       list({}),
       {{"a", held_by(kA, 60'000)}, {"b", held_by(kB, 60'000)}}},
      {"renewal leaves the count alone",
       {{"a", held_by(kA, 30'000, "2")}},
       wire::lock::renew({{"a", kA.text}}, kLease),
       list({}),
       {{"a", held_by(kA, 60'000, "2")}}},
      {"renewal does not bring a lost lock back", {}, wire::lock::renew({{"a", kA.text}}, kLease), list({1}), {}},
      {"renewal of nothing", {}, wire::lock::renew({}, kLease), list({}), {}},
  };
}

std::vector<Row> look_rows() {
  return {
      {"a look at a free lock", {}, wire::lock::holder("L"), nil(), {}},
      {"a look at a lock that a Redisson thread holds twice",
       {{"L", held_by(kA, 30'000, "2")}},
       wire::lock::holder("L"),
       seen(kA, "2"),
       {{"L", held_by(kA, 30'000, "2")}}},
      {"a look at a lock of node-redissons",
       {{"L", held_by(kNodes, 30'000)}},
       wire::lock::holder("L"),
       seen(kNodes, "1"),
       {{"L", held_by(kNodes, 30'000)}}},
  };
}

/// Hashes that are no lock, and what they are called.
struct Stranger {
  std::string title;
  Hash hash;
  std::string called;
};
std::vector<Stranger> strangers() {
  const std::string uuid = kA.text.substr(0, 36);
  const std::string object = "qwvAS12pR0CgRitaypEjUw";
  const std::string one = "a hash of one field that is no lock";
  std::map<std::string, std::string> many;
  for (int i = 0; i < 1001; ++i) many["field " + std::to_string(i)] = "1";
  return {
      {"somebodys data", {{{"name", "alice"}, {"email", "a@x"}}, kNoExpiry}, "a hash of 2 fields that is no lock"},
      {"one field of somebodys data", {{{"secret", "abc"}}, kNoExpiry}, one},
      {"one field with a count and an expiry", {{{"visits", "3"}}, 30'000}, one},
      {"three fields and one is called mode",
       {{{"name", "bob"}, {"email", "b@x"}, {"mode", "read"}}, 30'000},
       "a hash of 3 fields that is no lock"},
      {"very many fields", {many, 30'000}, "a hash of 1001 fields that is no lock"},
      {"an owner and something else",
       {{{kA.text, "1"}, {"name", "bob"}}, 30'000},
       "a hash of 2 fields that is no lock"},
      {"two owners", {{{kA.text, "1"}, {kB.text, "1"}}, 30'000}, "a hash of 2 fields that is no lock"},
      {"an owner with no count", {{{kA.text, "busy"}}, 30'000}, one},
      {"an owner with a count of 0", {{{kA.text, "0"}}, 30'000}, one},
      {"an owner with a count below 0", {{{kA.text, "-1"}}, 30'000}, one},
      {"an owner with half a count", {{{kA.text, "1.5"}}, 30'000}, one},
      {"a uuid without a number", {{{uuid, "1"}}, 30'000}, one},
      {"two uuids and an end", {{{uuid + ":" + uuid + "0", "1"}}, 30'000}, one},
      {"two uuids with a count of 0", {{{uuid + ":" + uuid, "0"}}, 30'000}, one},
      {"an owner with an end", {{{kA.text + ":write", "1"}}, 30'000}, one},
      {"something else than a uuid", {{{"11111111-2222-4333-8444-55555555555g:1", "1"}}, 30'000}, one},
      {"a read lock", {{{"mode", "read"}, {kA.text, "2"}, {kB.text, "1"}}, 30'000}, "a read-write lock"},
      {"a write lock", {{{"mode", "write"}, {kA.text + ":write", "1"}}, 30'000}, "a read-write lock"},
      {"a write lock and its owners read lock",
       {{{"mode", "write"}, {kA.text + ":write", "1"}, {kA.text, "1"}}, 30'000},
       "a read-write lock"},
      {"a group of locks",
       {{{object, kA.text},
         {object + ":" + kA.text + ":expire_time", "1"},
         {object + ":" + kA.text + ":lock_count", "1"}},
        30'000},
       "a group of locks of Redisson (getMultiLock with a name)"},
  };
}

std::vector<Row> stranger_rows() {
  const wire::Owner newcomer{"77777777-2222-4333-8444-555555555555:9"};
  const std::vector<std::pair<std::string, base::Command>> calls{
      {"acquire", lock::acquire(kL, newcomer, kLease)},
      {"acquire that counts", lock::acquire(kL, newcomer, kLease, true)},
      {"force release", wire::lock::force_release(kL)},
      {"force release from an owner", wire::lock::force_release(kL, kA)},
      {"a look", wire::lock::holder("L")}};
  std::vector<Row> rows;
  for (const Stranger& each : strangers()) {
    for (const auto& [what, call] : calls) {
      const State state{{"L", each.hash}};
      rows.push_back({what + " on " + each.title, state, call, refused(each.called), state});
    }
  }
  // What nothing ends is no stranger: nobody may wait for it, but it is shown, and taken by force.
  const State eternal{{"L", {{{kA.text, "2"}}, kNoExpiry}}};
  rows.push_back({"acquire of an eternal lock", eternal, lock::acquire(kL, newcomer, kLease),
                  refused("a lock of " + kA.text + " without an expiry, so nothing ends it; PEXPIRE gives it one"),
                  eternal});
  rows.push_back({"a look at an eternal lock", eternal, wire::lock::holder("L"), seen(kA, "2"), eternal});
  rows.push_back(
      {"force release of an eternal lock", eternal, wire::lock::force_release(kL, kA), number(1), {}, {{kWake, "0"}}});
  return rows;
}

class LockTable : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<RedisServer>(); }
  static void TearDownTestSuite() { server.reset(); }

  void set_up(const State& state) {
    raw.flushall();
    for (const auto& [key, hash] : state) {
      for (const auto& [field, value] : hash.fields) raw.command("HSET", key, field, value);
      if (hash.ttl != kNoExpiry) raw.command("PEXPIRE", key, hash.ttl);
    }
  }

  void expect_state(const State& state) {
    EXPECT_EQ(raw.command("DBSIZE").integer, static_cast<long long>(state.size()));
    for (const auto& [key, hash] : state) {
      SCOPED_TRACE("key " + key);
      EXPECT_EQ(raw.hgetall(key), hash.fields);
      expect_time_to_live(raw.pttl(key), hash.ttl);
    }
  }

  static void expect_time_to_live(long long actual, long long expected) {
    EXPECT_LE(actual, expected);
    EXPECT_GE(actual, expected == kNoExpiry ? kNoExpiry : expected - kSlack);
  }

  static void expect_reply(const Reply& actual, const Expected& expected) {
    ASSERT_EQ(actual.kind, expected.reply.kind) << actual.text;
    if (expected.is_ttl) return expect_time_to_live(actual.integer, expected.reply.integer);
    if (actual.is_error()) {
      EXPECT_EQ(actual.text, expected.reply.text);
    }
    EXPECT_EQ(actual.integer, expected.reply.integer);
    ASSERT_EQ(actual.elements.size(), expected.reply.elements.size());
    for (std::size_t i = 0; i < actual.elements.size(); ++i) {
      SCOPED_TRACE("element " + std::to_string(i));
      EXPECT_EQ(actual.elements[i].kind, expected.reply.elements[i].kind);
      const long long wanted = expected.reply.elements[i].integer;
      EXPECT_LE(actual.elements[i].integer, wanted);
      EXPECT_GE(actual.elements[i].integer, wanted > kSlack ? wanted - kSlack : wanted);
      EXPECT_EQ(actual.elements[i].text, expected.reply.elements[i].text);
    }
  }

  static std::unique_ptr<RedisServer> server;
  Raw raw{*server};
};
std::unique_ptr<RedisServer> LockTable::server;

TEST_P(LockTable, holds) {
  const Row& row = GetParam();
  Subscriber subscriber(*server);
  for (const base::Script* script : all_scripts()) raw.command("SCRIPT", "LOAD", script->text);
  for (const SendBy by : {SendBy::text, SendBy::hash}) {
    SCOPED_TRACE(by == SendBy::text ? "sent by text" : "sent by hash");
    set_up(row.before);
    subscriber.clear();
    expect_reply(run(raw, row.call, by), row.reply);
    expect_state(row.after);
    EXPECT_THAT(subscriber.messages(), ElementsAreArray(row.messages));
  }
}

std::string test_name(const testing::TestParamInfo<Row>& info) {
  std::string name = info.param.title;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Acquire, LockTable, testing::ValuesIn(acquire_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Release, LockTable, testing::ValuesIn(release_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Look, LockTable, testing::ValuesIn(look_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Strangers, LockTable, testing::ValuesIn(stranger_rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Renew, LockTable, testing::ValuesIn(renew_rows()), test_name);

}  // namespace
}  // namespace holdfast::test::lock_table_test
