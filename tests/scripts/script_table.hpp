// SPDX-License-Identifier: Apache-2.0
// Tables of scripts: (state, call) -> (reply, state, messages), each row sent by text and by hash. For kinds whose
// state is more than a hash.
#pragma once

#include <cctype>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/redirect.hpp"
#include "scripts/script_call.hpp"
#include "support/listen.hpp"

namespace holdfast::test::table {

constexpr long long kNoExpiry = -1;
/// Times run down while a test runs. Rows use values much further apart than this.
constexpr long long kSlack = 15'000;

/// What is at a key. A score is told, and compared, as ms from now by the server's clock.
struct Value {
  std::string type{};
  std::map<std::string, std::string> fields{};
  std::vector<std::string> items{};
  std::map<std::string, long long> scores{};
  std::string text{};
  long long ttl = kNoExpiry;
};
using State = std::map<std::string, Value>;

inline Value hash(std::map<std::string, std::string> fields, long long ttl) {
  return {.type = "hash", .fields = std::move(fields), .ttl = ttl};
}
inline Value list(std::vector<std::string> items) { return {.type = "list", .items = std::move(items)}; }
inline Value zset(std::map<std::string, long long> scores) { return {.type = "zset", .scores = std::move(scores)}; }
inline Value text(std::string value, long long ttl = kNoExpiry) {
  return {.type = "string", .text = std::move(value), .ttl = ttl};
}

inline Reply nil() { return {}; }
inline Reply number(long long value) { return {Reply::Kind::integer, value, {}, {}}; }
inline Reply word(std::string value) { return {Reply::Kind::text, 0, std::move(value), {}}; }
inline Reply several(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }
inline Reply refused(const std::string& found) { return {Reply::Kind::error, 0, "WRONGTYPE it is " + found, {}}; }

struct Row {
  std::string title;
  State before;
  base::Command call;
  Reply reply;  ///< Numbers above the slack are times, which may have run down a little.
  State after;
  std::vector<Message> messages{};
};
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.title; }

inline std::string test_name(const testing::TestParamInfo<Row>& info) {
  std::string name = info.param.title;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

/// A number as it should be: a time may be a little less.
inline void expect_number(long long actual, long long expected) {
  EXPECT_LE(actual, expected);
  EXPECT_GE(actual, expected > kSlack ? expected - kSlack : expected);
}

inline void expect_reply(const Reply& actual, const Reply& expected) {
  ASSERT_EQ(actual.kind, expected.kind) << actual.text;
  EXPECT_EQ(actual.text, expected.text);
  expect_number(actual.integer, expected.integer);
  ASSERT_EQ(actual.elements.size(), expected.elements.size());
  for (std::size_t i = 0; i < actual.elements.size(); ++i) {
    SCOPED_TRACE("element " + std::to_string(i));
    expect_reply(actual.elements[i], expected.elements[i]);
  }
}

/// Reads and writes states of one server.
class Store {
 public:
  explicit Store(Raw& raw) : raw_(raw) {}

  long long now() {
    const Reply time = raw_.command("TIME");
    return std::stoll(time.elements.at(0).text) * 1000 + std::stoll(time.elements.at(1).text) / 1000;
  }

  void set_up(const State& state) {
    raw_.flushall();
    for (const auto& [key, value] : state) {
      for (const auto& [field, count] : value.fields) raw_.command("HSET", key, field, count);
      for (const std::string& item : value.items) raw_.command("RPUSH", key, item);
      for (const auto& [member, score] : value.scores) raw_.command("ZADD", key, now() + score, member);
      if (value.type == "string") {
        raw_.command("SET", key, value.text);
      }
      if (value.ttl != kNoExpiry) raw_.command("PEXPIRE", key, value.ttl);
    }
  }

  void expect(const State& state) {
    EXPECT_EQ(raw_.command("DBSIZE").integer, static_cast<long long>(state.size()));
    for (const auto& [key, value] : state) {
      SCOPED_TRACE("key " + key);
      ASSERT_EQ(raw_.type(key), value.type);
      expect_number(raw_.pttl(key), value.ttl);
      if (value.type == "hash") {
        EXPECT_EQ(raw_.hgetall(key), value.fields);
      }
      if (value.type == "string") {
        EXPECT_EQ(raw_.command("GET", key).text, value.text);
      }
      if (value.type == "list") {
        EXPECT_EQ(items(key), value.items);
      }
      if (value.type == "zset") {
        expect_scores(key, value.scores);
      }
    }
  }

 private:
  std::vector<std::string> items(const std::string& key) {
    std::vector<std::string> all;
    for (const Reply& item : raw_.command("LRANGE", key, 0, -1).elements) all.push_back(item.text);
    return all;
  }
  void expect_scores(const std::string& key, const std::map<std::string, long long>& scores) {
    EXPECT_EQ(raw_.command("ZCARD", key).integer, static_cast<long long>(scores.size()));
    for (const auto& [member, score] : scores) {
      SCOPED_TRACE("member " + member);
      const Reply found = raw_.command("ZSCORE", key, member);
      if (found.is_null()) {
        ADD_FAILURE() << "is not there";
        continue;
      }
      // They do not run down, unlike times to live; but a call takes its time, and may set them anew.
      const long long left = static_cast<long long>(std::stod(found.text)) - now();
      EXPECT_LE(left, score + kSlack);
      EXPECT_GE(left, score - kSlack);
    }
  }

  Raw& raw_;
};

/// A suite of rows on a server of its own.
class Table : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<RedisServer>(); }
  static void TearDownTestSuite() { server.reset(); }

  void expect_row() {
    const Row& row = GetParam();
    Raw raw(*server);
    Store store(raw);
    Subscriber subscriber(*server);
    for (const base::Script* script : all_scripts()) raw.command("SCRIPT", "LOAD", script->text);
    const auto expect = [&](const char* how, const base::Command& call, SendBy by) {
      SCOPED_TRACE(how);
      store.set_up(row.before);
      subscriber.clear();
      expect_reply(run(raw, call, by), row.reply);
      store.expect(row.after);
      EXPECT_THAT(subscriber.messages(), testing::ElementsAreArray(row.messages));
    };
    expect("sent by text", row.call, SendBy::text);
    expect("sent by hash", row.call, SendBy::hash);
    // As in a cluster, while the slot is under way.
    if (row.call.script != nullptr && row.call.script->of_first_key != nullptr &&
        std::stoi(row.call.args.front()) > 1) {
      expect("naming the first key only", redis::cluster::of_first_key(row.call), SendBy::text);
    }
  }

  inline static std::unique_ptr<RedisServer> server;
};

}  // namespace holdfast::test::table
