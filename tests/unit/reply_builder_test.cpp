// SPDX-License-Identifier: Apache-2.0
// Replies built from the bytes of a server, through the parser that the lane uses.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "redis/decide/resp.hpp"

namespace holdfast::redis::reply_builder_test {
namespace {

using base::Reply;

/// The replies in these bytes, message after message.
std::vector<Reply> built(std::string_view bytes) {
  ReplyBuilder builder;
  Parser parser({.bytes = 1U << 20U, .elements = 10'000});
  while (!bytes.empty()) {
    while (!parser.done()) {
      const std::optional<Node> node = parser.next(bytes);
      EXPECT_TRUE(node) << "incomplete: " << bytes << parser.problem();
      if (!node) return builder.replies;
      builder.add(*node);
    }
    builder.finish();
    bytes.remove_prefix(parser.parsed());
    parser.reset();
  }
  return builder.replies;
}

/// `[1 "text" null error(ERR x) []]`
std::string text(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::null:
      return "null";
    case Reply::Kind::integer:
      return std::to_string(reply.integer);
    case Reply::Kind::text:
      return '"' + reply.text + '"';
    case Reply::Kind::error:
      return "error(" + reply.text + ")";
    case Reply::Kind::array:
      break;
  }
  std::string out;
  for (const Reply& element : reply.elements) out += (out.empty() ? "" : " ") + text(element);
  return "[" + out + "]";
}

std::string one(std::string_view bytes) {
  const std::vector<Reply> replies = built(bytes);
  EXPECT_EQ(replies.size(), 1U) << bytes;
  return replies.empty() ? "nothing" : text(replies.front());
}

TEST(ReplyBuilder, BuildsPlainValues) {
  EXPECT_EQ(one("_\r\n"), "null");
  EXPECT_EQ(one(":0\r\n"), "0");
  EXPECT_EQ(one(":29998\r\n"), "29998");
  EXPECT_EQ(one(":-1\r\n"), "-1");
  EXPECT_EQ(one("#t\r\n"), "1");
  EXPECT_EQ(one("#f\r\n"), "0");
  EXPECT_EQ(one("+PONG\r\n"), "\"PONG\"");
  EXPECT_EQ(one("$5\r\nhello\r\n"), "\"hello\"");
  EXPECT_EQ(one("$0\r\n\r\n"), "\"\"");
  EXPECT_EQ(one(",1.5\r\n"), "\"1.5\"");
}

TEST(ReplyBuilder, KeepsTheWholeRangeOfNumbers) {
  EXPECT_EQ(one(":9223372036854775807\r\n"), "9223372036854775807");
  EXPECT_EQ(one(":-9223372036854775808\r\n"), "-9223372036854775808");
}

TEST(ReplyBuilder, KeepsAnyBytesInText) {
  const std::vector<Reply> replies = built(std::string_view("$5\r\n\r\n\0\"\xff\r\n", 11));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_TRUE(replies[0].is_text());
  EXPECT_EQ(replies[0].text, std::string_view("\r\n\0\"\xff", 5));
}

TEST(ReplyBuilder, LeavesTheFormatInFrontOfAVerbatimString) { EXPECT_EQ(one("=8\r\ntxt:id=7\r\n"), "\"txt:id=7\""); }

TEST(ReplyBuilder, TellsErrorsFromTextWithTheirFirstWord) {
  EXPECT_EQ(one("-WRONGTYPE Operation against a key\r\n"), "error(WRONGTYPE Operation against a key)");
  EXPECT_EQ(one("!9\r\nERR a\r\n b\r\n"), "error(ERR a\r\n b)");
}

TEST(ReplyBuilder, BuildsArraysAndSets) {
  EXPECT_EQ(one("*0\r\n"), "[]");
  EXPECT_EQ(one("*3\r\n:1\r\n:0\r\n:1\r\n"), "[1 0 1]");
  EXPECT_EQ(one("~2\r\n+a\r\n+b\r\n"), "[\"a\" \"b\"]");
  EXPECT_EQ(one("*2\r\n_\r\n-ERR x\r\n"), "[null error(ERR x)]");
}

TEST(ReplyBuilder, BuildsAMapAsItsKeysAndValuesInTurn) {
  EXPECT_EQ(one("%2\r\n$2\r\nid\r\n:7\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"), "[\"id\" 7 \"role\" \"master\"]");
  EXPECT_EQ(one("%0\r\n"), "[]");
}

TEST(ReplyBuilder, BuildsPushedMessages) {
  EXPECT_EQ(one(">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\n0\r\n"), "[\"message\" \"ch\" \"0\"]");
}

TEST(ReplyBuilder, BuildsArraysInArraysAndGoesOnBehindThem) {
  EXPECT_EQ(one("*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n:3\r\n*0\r\n"), "[[1 [2]] 3 []]");
  EXPECT_EQ(one("*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"), "[\"0\" [\"a\" \"b\"]]");
  EXPECT_EQ(one("*2\r\n*1\r\n*1\r\n*1\r\n:1\r\n:2\r\n"), "[[[[1]]] 2]");
}

TEST(ReplyBuilder, BuildsOneReplyPerMessage) {
  const std::vector<Reply> replies = built("+OK\r\n*2\r\n:1\r\n*1\r\n:2\r\n-ERR x\r\n_\r\n*1\r\n:3\r\n");
  std::string all;
  for (const Reply& reply : replies) all += text(reply) + "\n";
  EXPECT_EQ(all, "\"OK\"\n[1 [2]]\nerror(ERR x)\nnull\n[3]\n");
}

TEST(ReplyBuilder, SurvivesTheGrowthOfWideReplies) {
  // Many siblings on every level, so that the vectors that hold them move while the tree is built.
  constexpr int kRows = 500;
  std::string bytes = "*" + std::to_string(kRows) + "\r\n";
  std::string expected;
  for (int i = 0; i < kRows; ++i) {
    const std::string number = std::to_string(i);
    bytes += "*3\r\n:" + number + "\r\n*2\r\n+x\r\n+y\r\n:" + number + "\r\n";
    expected += (i == 0 ? "" : " ") + ("[" + number) + " [\"x\" \"y\"] " + number + "]";
  }
  EXPECT_EQ(one(bytes), "[" + expected + "]");
}

}  // namespace
}  // namespace holdfast::redis::reply_builder_test
