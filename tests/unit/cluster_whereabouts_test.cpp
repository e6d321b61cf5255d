// SPDX-License-Identifier: Apache-2.0
// Where the keys of a script are that no node has all of, and what is sent then.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/redirect.hpp"

namespace holdfast::redis::cluster::cluster_whereabouts_test {
namespace {

using base::Command;
using base::Reply;
using testing::ElementsAre;
using Kind = Whereabouts::Kind;

constexpr base::Script kForm{"test/script", "form", "0124"};
constexpr base::Script kScript{"test/script", "text", "0123", &kForm};

Reply error(std::string text) { return {Reply::Kind::error, 0, std::move(text), {}}; }
Reply number(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }

Command three_keys() { return {{"3", "a", "b", "c", "one", "two"}, &kScript}; }

TEST(Whereabouts, AreAskedForWhereAScriptOfSeveralKeysIsRefused) {
  EXPECT_TRUE(are_apart(three_keys(), error("TRYAGAIN Multiple keys request during rehashing of slot")));
  EXPECT_FALSE(are_apart(three_keys(), error("ASK 1 there:2")));
  EXPECT_FALSE(are_apart(three_keys(), number(1)));
  EXPECT_FALSE(are_apart({{"1", "a", "one"}, &kScript}, error("TRYAGAIN")));
  EXPECT_FALSE(are_apart({{"EXISTS", "a", "b"}}, error("TRYAGAIN")));
  std::vector<std::string> asked;
  for (const Command& question : ask_for_keys(three_keys())) {
    EXPECT_EQ(question.args.front(), "PTTL") << "which every user may";
    asked.push_back(question.args.at(1));
  }
  EXPECT_THAT(asked, ElementsAre("a", "b", "c"));
}

TEST(Whereabouts, AreReadFromWhatTheNodeSaysOfEach) {
  const auto read = [](const std::vector<Reply>& replies) { return read_whereabouts(replies, {"asked", 1}); };
  EXPECT_EQ(read({number(-2), number(5)}).kind, Kind::together) << "the slot does not move any more";
  EXPECT_EQ(read({number(5), error("ASK 1 there:2")}).kind, Kind::apart);
  const Whereabouts left = read({error("ASK 1 there:2"), error("ASK 1 :2")});
  EXPECT_EQ(left.kind, Kind::left);
  EXPECT_EQ(left.next, (NodeAddress{"asked", 2})) << "without a host it is that of the node that was asked";
  for (const char* text : {"MOVED 1 there:2", "NOPERM", "ASK 1"}) {
    EXPECT_EQ(read({error("ASK 1 there:2"), error(text)}).kind, Kind::unknown) << text;
  }
}

TEST(Whereabouts, TheFormOfTheFirstKeyHasTheOthersBehindItsArguments) {
  const Command form = of_first_key(three_keys());
  EXPECT_EQ(form.script, &kForm);
  EXPECT_THAT(form.args, ElementsAre("1", "a", "one", "two", "b", "c", "2"));
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_whereabouts_test
