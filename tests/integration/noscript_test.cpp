// SPDX-License-Identifier: Apache-2.0
// Scripts that the server has forgotten, in requests of one command and of several: sent again with their text, and
// nothing else is.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/resp.hpp"
#include "faults.hpp"
#include "redis/connection/lane.hpp"
#include "support/running_schedule.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::noscript_test {
namespace {

using base::Command;
using base::Script;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A script that counts its key up and says its own letter; `pause_ms` later. Since Redis 7.2 TIME stands still in a
/// script, and before, some servers had no `os.clock`.
class CountingScript {
 public:
  CountingScript(Raw& raw, const std::string& letter, int pause_ms = 0)
      : text_(
            "local os = rawget(_G, 'os') "
            "local now = os and os.clock or function() local t = redis.call('TIME') return t[1] + t[2] / 1e6 end "
            "local ends = now() + " +
            std::to_string(pause_ms) +
            " / 1000 while now() < ends do end "
            "return '" +
            letter + "' .. redis.call('INCR', KEYS[1])"),
        sha1_(raw.command("SCRIPT", "LOAD", text_).text),
        script_{"test/" + letter, text_, sha1_} {}
  CountingScript(const CountingScript&) = delete;
  CountingScript& operator=(const CountingScript&) = delete;

  Command on(const std::string& key) const { return Command::call(script_, "1", key); }

 private:
  const std::string text_, sha1_;
  const Script script_;
};

class NoScript : public testing::Test {
 protected:
  NoScript() { lane_.start({}); }
  ~NoScript() override {
    lane_.close();
    schedule_.close();
    context_.restart();
    context_.run();
  }

  /// The result, when it is there.
  redis::Result ask(std::vector<Command> commands, base::Duration timeout = kPatience) {
    auto result = std::make_shared<std::optional<redis::Result>>();
    lane_.send({std::move(commands), timeout, {}}, [result](redis::Result come) { *result = std::move(come); });
    while (!*result) {
      lane_.flush();
      context_.restart();
      context_.run_one();
    }
    return std::move(**result);
  }
  static std::vector<std::string> words(const redis::Result& result) {
    std::vector<std::string> words;
    for (const base::Reply& reply : result.replies) {
      words.push_back(reply.is_integer() ? std::to_string(reply.integer) : reply.text);
    }
    return words;
  }
  Config settings() const {
    Config settings;
    settings.server = UnixSocket{server_.socket_path()};
    return settings;
  }

  RedisServer server_;
  Raw raw_{server_};
  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  redis::Subscriptions subscriptions_{std::make_shared<redis::Listeners>()};
  struct Events final : redis::LaneEvents {
    void command() override { ++sent; }
    int sent = 0;
  } events_;
  redis::Lane lane_{schedule_, settings(), std::make_shared<redis::ConfiguredEndpoint>(settings()), subscriptions_,
                    events_};
  CountingScript a_{raw_, "a"}, b_{raw_, "b"};
};

TEST_F(NoScript, OneCommandIsSentAgain) {
  EXPECT_THAT(words(ask({a_.on("x")})), ElementsAre("a1"));
  raw_.command("SCRIPT", "FLUSH");
  EXPECT_THAT(words(ask({a_.on("x")})), ElementsAre("a2"));
  EXPECT_EQ(events_.sent, 3);
}

TEST_F(NoScript, EachOfSeveralIsSentAgainAndItsReplyTakesItsPlace) {
  EXPECT_THAT(words(ask({a_.on("x"), b_.on("y")})), ElementsAre("a1", "b1"));
  raw_.command("SCRIPT", "FLUSH");
  EXPECT_THAT(words(ask({b_.on("y"), a_.on("x"), b_.on("y")})), ElementsAre("b2", "a2", "b3"));
}

TEST_F(NoScript, WhatWasExecutedIsNotSentAgain) {
  ask({a_.on("x"), b_.on("y")});
  raw_.command("SCRIPT", "FLUSH");
  const CountingScript a_again(raw_, "a");  // known, unlike b
  events_.sent = 0;
  const redis::Result result =
      ask({a_.on("x"), Command{{"INCR", "plain"}}, b_.on("y"), Command{{"INCR", "plain"}}, Command{{"GET", "x", "y"}}});
  EXPECT_EQ(result.delivery, redis::Delivery::answered);
  EXPECT_THAT(words(result), ElementsAre("a2", "1", "b2", "2", HasSubstr("wrong number of arguments")));
  EXPECT_EQ(events_.sent, 6);
  EXPECT_EQ(raw_.command("GET", "plain").text, "2");
}

TEST_F(NoScript, ALeaseCountsFromTheFirstSendIfSomethingWasExecutedThen) {
  const Standstill still;
  ask({a_.on("x"), b_.on("y")});
  raw_.command("SCRIPT", "FLUSH");
  const auto before = base::Clock::now();
  // The first takes its time before the second is found to be unknown.
  const redis::Result part = ask({Command{{"BLPOP", "nothing", "0.2"}}, a_.on("x")});
  EXPECT_LT(part.sent_at - before, 200ms + still.total());
  EXPECT_THAT(words(part), ElementsAre("", "a2"));
}

TEST_F(NoScript, TheTimeLimitStaysWhatItWas) {
  const CountingScript slow(raw_, "s", 400);
  ask({slow.on("x")});
  raw_.command("SCRIPT", "FLUSH");
  const redis::Result result = ask({Command{{"BLPOP", "nothing", "0.3"}}, slow.on("x")}, 500ms);
  EXPECT_EQ(result.delivery, redis::Delivery::unknown);
  EXPECT_THAT(result.cause, StartsWith("no reply within 500 ms"));
  EXPECT_THAT(words(ask({a_.on("y")})), ElementsAre("a1"));  // what comes late reaches nobody else
}

}  // namespace
}  // namespace holdfast::test::noscript_test
