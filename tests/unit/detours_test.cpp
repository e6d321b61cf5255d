// SPDX-License-Identifier: Apache-2.0
// What becomes of requests that another node of a cluster is to be asked.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "redis/topology/cluster_servers.hpp"

namespace holdfast::redis::detours_test {
namespace {

using namespace std::chrono_literals;
using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;

const NodeAddress kHere{"here", 1};

Reply error(std::string text) { return {Reply::Kind::error, 0, std::move(text), {}}; }
Reply number(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }

class DetoursTest : public testing::Test {
 protected:
  struct Sent {
    std::string where;
    Request request;
    ResultHandler handler;
  };

  DetoursTest()
      : detours(schedule,
                {.by_key = [this](Request&& request,
                                  ResultHandler&& handler) { sent.push_back({"", request, std::move(handler)}); },
                 .to =
                     [this](const NodeAddress& to, Request&& request, ResultHandler&& handler) {
                       sent.push_back({to.host + ":" + std::to_string(to.port), request, std::move(handler)});
                     }}) {}

  void take(std::vector<std::string> names, std::vector<Reply> replies, base::Duration left = 10s) {
    Misdirected misdirected;
    for (std::string& name : names) misdirected.request.commands.push_back({{"GET", std::move(name)}});
    misdirected.deadline = now + left;
    misdirected.result.delivery = Delivery::answered;
    misdirected.result.replies = std::move(replies);
    misdirected.handler = [this](Result result) { results.push_back(std::move(result)); };
    detours.take(std::move(misdirected), kHere, now);
  }
  /// The node that was asked last sends the request around once more.
  void redirect_again(const std::string& text) {
    Sent last = std::move(sent.back());
    sent.pop_back();
    Misdirected again;
    again.deadline = now + last.request.timeout;
    again.request = std::move(last.request);
    again.handler = std::move(last.handler);
    again.result.delivery = Delivery::answered;
    again.result.replies = {error(text)};
    detours.take(std::move(again), kHere, now);
  }
  static Result answer(Reply reply) {
    Result result;
    result.delivery = Delivery::answered;
    result.replies.push_back(std::move(reply));
    return result;
  }

  base::TimePoint now{1000h};  // no other time passes: the context does not run
  boost::asio::io_context context;
  timing::Schedule schedule{context.get_executor()};
  std::vector<Sent> sent;
  std::vector<Result> results;
  Detours detours;
};

TEST_F(DetoursTest, MovedGoesToWhoServesTheKeyByNow) {
  take({"a"}, {error("MOVED 1 there:2")});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].where, "");
  EXPECT_FALSE(sent[0].request.asking);
  EXPECT_EQ(sent[0].request.timeout, 10s);
}

TEST_F(DetoursTest, AskGoesToThatNodeBehindAsking) {
  take({"a"}, {error("ASK 1 there:2")});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].where, "there:2");
  EXPECT_TRUE(sent[0].request.asking);
  redirect_again("MOVED 1 :3");
  EXPECT_EQ(sent[0].where, "");
  EXPECT_FALSE(sent[0].request.asking) << "only at the node that is taking the slot over";
}

TEST_F(DetoursTest, ACircleIsNotRunAroundInForLong) {
  take({"a"}, {error("MOVED 1 there:2")}, 100ms);
  for (int i = 1; i < Detours::kAtOnce; ++i) redirect_again("MOVED 1 there:2");
  ASSERT_EQ(sent.size(), 1U);
  int rounds = 0;
  while (results.empty()) {
    redirect_again("MOVED 1 there:2");
    ++rounds;
    if (results.empty()) {
      ASSERT_THAT(sent, IsEmpty()) << "behind a pause";
      now = detours.due();
      detours.on_time(now);
      ASSERT_EQ(sent.size(), 1U);
    }
  }
  EXPECT_LT(rounds, 8) << "pauses grow";
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].replies.front().text, "MOVED 1 there:2") << "it was not executed, and the caller may know";
}

TEST_F(DetoursTest, OfSeveralCommandsThoseAloneGoOnThatWereRedirected) {
  take({"a", "b", "c"}, {number(1), error("MOVED 1 there:2"), error("ASK 2 there:3")});
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(sent[0].request.commands.front().args, ElementsAre("GET", "b"));
  EXPECT_THAT(sent[1].request.commands.front().args, ElementsAre("GET", "c"));
  EXPECT_EQ(sent[1].where, "there:3");
  sent[1].handler(answer(number(3)));
  EXPECT_THAT(results, IsEmpty());
  Result lost;
  lost.delivery = Delivery::unknown;
  lost.cause = "cut";
  sent[0].handler(std::move(lost));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].replies[0].integer, 1);
  EXPECT_EQ(results[0].replies[1].text, "TRYAGAIN the node that serves it now has not answered: cut");
  EXPECT_EQ(results[0].replies[2].integer, 3);
}

TEST_F(DetoursTest, WhatMakesNoSenseIsTheCallersAffair) {
  take({"a"}, {error("MOVED 99999 there:2")});
  EXPECT_THAT(sent, IsEmpty());
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].replies.front().text, "MOVED 99999 there:2");
}

/// A script of two keys that a node refused since it has not both.
class KeysApart : public DetoursTest {
 protected:
  void take_script(std::vector<base::Command> (*pieces)(const base::Command&) = nullptr) {
    Misdirected misdirected;
    misdirected.request.commands.push_back({{"2", "a", "b", "argument"}, &kScript, pieces});
    misdirected.deadline = base::Clock::now() + 10s;
    misdirected.result.delivery = Delivery::answered;
    misdirected.result.replies = {error(kApart)};
    misdirected.handler = [this](Result result) { results.push_back(std::move(result)); };
    detours.take(std::move(misdirected), kHere, base::Clock::now());
  }
  /// What the node that the slot comes from says of both.
  void answer_question(std::vector<Reply> replies) {
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].where, "");
    EXPECT_TRUE(sent[0].request.here);
    ASSERT_EQ(sent[0].request.commands.size(), 2U);
    EXPECT_THAT(sent[0].request.commands[1].args, ElementsAre("PTTL", "b"));
    const ResultHandler handler = std::move(sent[0].handler);
    sent.clear();
    Result result;
    result.delivery = Delivery::answered;
    result.replies = std::move(replies);
    handler(std::move(result));
  }

  static constexpr const char* kApart = "TRYAGAIN Multiple keys request during rehashing of slot";
  static constexpr base::Script kForm{"test", "form", "0124"};
  static constexpr base::Script kScript{"test", "text", "0123", &kForm};
};

TEST_F(KeysApart, AllThatHaveLeftAreServedWhereTheyGo) {
  take_script();
  answer_question({error("ASK 1 there:2"), error("ASK 1 there:2")});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].where, "there:2");
  EXPECT_TRUE(sent[0].request.asking);
  EXPECT_EQ(sent[0].request.commands.front().script, &kForm);
  EXPECT_THAT(sent[0].request.commands.front().args, ElementsAre("1", "a", "argument", "b", "1"));
}

TEST_F(KeysApart, OfASlotThatHasComeToRestAreAskedForAgain) {
  take_script();
  answer_question({number(-2), number(-2)});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].where, "");
  EXPECT_EQ(sent[0].request.commands.front().script, &kScript);
}

TEST_F(KeysApart, AreTheCallersAffairIfOneIsStillThere) {
  for (const Reply& one : {number(1), error("NOPERM")}) {
    take_script();
    answer_question({one, error("ASK 1 there:2")});
    EXPECT_THAT(sent, IsEmpty());
    ASSERT_FALSE(results.empty());
    EXPECT_EQ(results.back().replies.front().text, kApart);
  }
}

TEST_F(KeysApart, GoPieceByPieceIfTheyMay) {
  take_script([](const base::Command& whole) -> std::vector<base::Command> {
    return {{{"SET", whole.args[2]}}, {{"1", whole.args[1]}, whole.script}};
  });
  answer_question({number(1), error("ASK 1 there:2")});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].where, "") << "each goes where its key is";
  EXPECT_THAT(sent[0].request.commands.front().args, ElementsAre("SET", "b"));
  Result first = answer(number(1));
  first.sent_at = base::TimePoint(7s);
  sent[0].handler(std::move(first));
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(sent[1].request.commands.front().args, ElementsAre("1", "a"));
  Result last = answer(number(2));
  last.sent_at = base::TimePoint(9s);
  sent[1].handler(std::move(last));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].replies.front().integer, 2);
  EXPECT_EQ(results[0].sent_at, base::TimePoint(7s)) << "a lease counts from the first";
}

TEST_F(KeysApart, APieceThatIsRefusedIsTheLast) {
  take_script([](const base::Command& whole) -> std::vector<base::Command> {
    return {{{"SET", whole.args[2]}}, {{"1", whole.args[1]}, whole.script}};
  });
  answer_question({number(1), error("ASK 1 there:2")});
  sent[0].handler(answer(error("OOM")));
  EXPECT_EQ(sent.size(), 1U);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].replies.front().text, "OOM");
}

TEST_F(DetoursTest, WhoPausesHearsOfTheEnd) {
  take({"a"}, {error("MOVED 1 there:2")});
  for (int i = 0; i < Detours::kAtOnce; ++i) redirect_again("MOVED 1 there:2");
  ASSERT_THAT(sent, IsEmpty());
  detours.close();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].error, Errc::closed);
  take({"b"}, {error("MOVED 1 there:2")});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].error, Errc::closed);
}

}  // namespace
}  // namespace holdfast::redis::detours_test
