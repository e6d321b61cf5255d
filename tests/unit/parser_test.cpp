// SPDX-License-Identifier: Apache-2.0
// The bytes of a server, whole, in pieces, too many of them, and nonsense.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "redis/decide/resp.hpp"

namespace holdfast::redis::parser_test {
namespace {

constexpr ReplyLimits kSmall{.bytes = 100, .elements = 10};

/// Depth, type and value of each node: `0array 1integer=7`; then `more`, `done` or what is wrong.
std::string parsed(Parser& parser, std::string_view bytes) {
  const char* const names[] = {"null", "integer", "boolean", "text", "error", "array", "push"};
  std::string out;
  while (!parser.done()) {
    const std::optional<Node> node = parser.next(bytes);
    if (!node) return out + (parser.problem().empty() ? "more" : parser.problem());
    out += std::to_string(node->depth) + names[static_cast<int>(node->type)];
    if (!node->value.empty()) out += "=" + std::string(node->value);
    out += " ";
  }
  return out + "done";
}
std::string parsed(std::string_view bytes, ReplyLimits limits = kSmall) {
  Parser parser(limits);
  return parsed(parser, bytes);
}

TEST(Parser, TakesEachKindOfValueApart) {
  EXPECT_EQ(parsed("+OK\r\n"), "0text=OK done");
  EXPECT_EQ(parsed("-ERR no\r\n"), "0error=ERR no done");
  EXPECT_EQ(parsed(":-12\r\n"), "0integer=-12 done");
  EXPECT_EQ(parsed("$5\r\na\r\nbc\r\n"), "0text=a\r\nbc done");
  EXPECT_EQ(parsed("$0\r\n\r\n"), "0text done");
  EXPECT_EQ(parsed("!5\r\nERR x\r\n"), "0error=ERR x done");
  EXPECT_EQ(parsed("=5\r\ntxt:a\r\n"), "0text=txt:a done");
  EXPECT_EQ(parsed(",1.5\r\n"), "0text=1.5 done");
  EXPECT_EQ(parsed("(123\r\n"), "0text=123 done");
  EXPECT_EQ(parsed("#t\r\n"), "0boolean=t done");
  EXPECT_EQ(parsed("_\r\n"), "0null done");
  EXPECT_EQ(parsed("$-1\r\n"), "0null done");
  EXPECT_EQ(parsed("*-1\r\n"), "0null done");
}

TEST(Parser, TakesNestedRepliesApart) {
  EXPECT_EQ(parsed("*0\r\n"), "0array done");
  EXPECT_EQ(parsed("*2\r\n*1\r\n:1\r\n+x\r\n"), "0array 1array 2integer=1 1text=x done");
  EXPECT_EQ(parsed("%1\r\n+k\r\n~2\r\n:1\r\n*0\r\n"), "0array 1text=k 1array 2integer=1 2array done");
  EXPECT_EQ(parsed(">2\r\n+message\r\n$1\r\nx\r\n"), "0push 1text=message 1text=x done");
}

TEST(Parser, GoesOnWhereItWasWhenMoreArrives) {
  const std::string bytes = "*3\r\n$5\r\nhe\r\no\r\n:17\r\n%1\r\n+k\r\n_\r\n";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    Parser parser(kSmall);
    std::string out;
    for (std::size_t have = step; !parser.done(); have = std::min(have + step, bytes.size())) {
      out += parsed(parser, std::string_view(bytes).substr(0, have));
      if (out.ends_with("more")) out.resize(out.size() - 4);
      ASSERT_LE(have, bytes.size());
    }
    EXPECT_EQ(out, "0array 1text=he\r\no 1integer=17 1array 2text=k 2null done") << "in steps of " << step;
    EXPECT_EQ(parser.parsed(), bytes.size());
  }
}

TEST(Parser, StopsAtTheEndOfTheMessage) {
  Parser parser(kSmall);
  EXPECT_EQ(parsed(parser, "+OK\r\n:1\r\n"), "0text=OK done");
  EXPECT_EQ(parser.parsed(), 5U);
  parser.reset();
  EXPECT_EQ(parsed(parser, ":1\r\n"), "0integer=1 done");
}

TEST(Parser, ChecksWhatIsAnnouncedBeforeItArrives) {
  EXPECT_EQ(parsed("$60000000000\r\n"), "a reply of the server's announces 60000000000 bytes, more than 100");
  EXPECT_EQ(parsed("$101\r\n"), "a reply of the server's announces 101 bytes, more than 100");
  EXPECT_EQ(parsed("$90\r\n"), "more");
  EXPECT_EQ(parsed("*11\r\n"), "a reply of the server's announces 11 elements, more than 10 elements in all");
  EXPECT_EQ(parsed("%6\r\n"), "a reply of the server's announces 6 pairs, more than 10 elements in all");
  EXPECT_EQ(parsed("*10\r\n"), "0array more");
}

TEST(Parser, LimitsTheWholeMessage) {
  EXPECT_EQ(parsed("*2\r\n$60\r\n" + std::string(60, 'x') + "\r\n$60\r\n"),
            "0array 1text=" + std::string(60, 'x') + " a reply of the server's is longer than 100 bytes");
  EXPECT_EQ(parsed("+" + std::string(200, 'x')), "a reply of the server's is longer than 100 bytes");
  EXPECT_EQ(parsed("*9\r\n*2\r\n"),
            "0array a reply of the server's announces 2 elements, more than 10 elements in all");
}

TEST(Parser, TakesTheLongestLineInPortionsToo) {
  const std::string line = "+" + std::string(99, 'x') + "\r\n";
  EXPECT_EQ(parsed(line), "0text=" + std::string(99, 'x') + " done");
  Parser parser(kSmall);
  EXPECT_EQ(parsed(parser, line.substr(0, 100)), "more");
  EXPECT_EQ(parsed(parser, line.substr(0, 101)), "more");
  EXPECT_EQ(parsed(parser, line), "0text=" + std::string(99, 'x') + " done");
  EXPECT_EQ(parsed("+" + std::string(100, 'x') + "\r"), "a reply of the server's is longer than 100 bytes");
}

TEST(Parser, LimitsTheDepth) {
  std::string bytes;
  for (std::size_t i = 0; i < Parser::kDeepest; ++i) bytes += "*1\r\n";
  EXPECT_TRUE(parsed(bytes + ":1\r\n").ends_with("done"));
  EXPECT_TRUE(parsed(bytes + "*0\r\n").ends_with("done"));
  EXPECT_TRUE(parsed(bytes + "*1\r\n").ends_with("a reply of the server's is nested deeper than 8"));
}

TEST(Parser, SaysWhoDoesNotSpeakTheProtocol) {
  const std::string said = "the server does not speak the Redis protocol: its answer begins with ";
  EXPECT_EQ(parsed("HTTP/1.1 400 Bad Request\r\nServer: x\r\n"), said + "\"HTTP/1.1 400 Bad Request\"");
  EXPECT_EQ(parsed("SSH-2.0-OpenSSH_9.2\r\n"), said + "\"SSH-2.0-OpenSSH_9.2\"");
  EXPECT_EQ(parsed("220 mail\n"), said + "\"220 mail\"");
  EXPECT_EQ(parsed(std::string_view("\x15\x03\x01\x00\x02\x02\x32", 7)),
            said + "\"\\x15\\x03\\x01\\x00\\x02\\x022\", which is TLS (rediss://)");
  EXPECT_EQ(parsed(std::string(1000, 'x')), said + "\"" + std::string(60, 'x') + "\"");
}

TEST(Parser, SurvivesNonsense) {
  // Each of these is to be refused, and none to be waited for, read past or taken for something else.
  for (const char* bytes : {"$\r\n",
                            "*\r\n",
                            ":\r\n",
                            "#\r\n",
                            "%\r\n",
                            "$+1\r\n",
                            "$1x\r\n",
                            "$-2\r\n",
                            "*-2\r\n",
                            ":1.5\r\n",
                            "#x\r\n",
                            "$18446744073709551615\r\n",
                            "*18446744073709551615\r\n",
                            "%9223372036854775808\r\n",
                            "$99999999999999999999\r\n",
                            "$?\r\n",
                            "*?\r\n",
                            ";1\r\n",
                            "|1\r\n",
                            ".\r\n",
                            "\r\n",
                            "$1\r\nabc",
                            ":12345678901234567890\r\n",
                            ">0\r\n",
                            "*1\r\n>1\r\n"}) {
    const std::string out = parsed(bytes);
    EXPECT_TRUE(out.find("server") != std::string::npos) << bytes << ": " << out;
  }
}

}  // namespace
}  // namespace holdfast::redis::parser_test
