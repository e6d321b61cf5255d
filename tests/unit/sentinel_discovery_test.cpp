// SPDX-License-Identifier: Apache-2.0
// Who is asked for the primary, when, and what is made of the answers; as transcripts.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/discovery.hpp"

namespace holdfast::redis::sentinel::sentinel_discovery_test {
namespace {

using namespace std::chrono_literals;
using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;

const NodeAddress kA{"a", 1}, kB{"b", 2}, kC{"c", 3};

// --- the question ---

/// A question, told as `time: ask a:1, look at 250`.
class Question {
 public:
  explicit Question(std::vector<NodeAddress> order, base::Duration limit = 5s) : discovery_(std::move(order), limit) {
    tell(discovery_.start(at()));
  }
  Question& time(std::chrono::milliseconds time) {
    now_ = time;
    tell(discovery_.on_time(at()));
    return *this;
  }
  Question& fails(std::size_t index, const std::string& why, std::chrono::milliseconds time) {
    now_ = time;
    tell(discovery_.on_failure(index, why, at()));
    return *this;
  }
  const std::vector<std::string>& told() const { return told_; }
  const Discovery& discovery() const { return discovery_; }

 private:
  base::TimePoint at() const { return base::TimePoint{} + now_; }
  void tell(const Discovery::Step& step) {
    std::string line = std::to_string(now_.count()) + ":";
    if (step.ask) line += " ask " + in_words(discovery_.sentinel(*step.ask));
    if (step.look) {
      line +=
          " look at " +
          std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*step.look - base::TimePoint{}).count());
    }
    if (step.lost) line += " lost";
    told_.push_back(line);
  }

  Discovery discovery_;
  std::chrono::milliseconds now_{0};
  std::vector<std::string> told_;
};

TEST(Discovery, AsksTheNextWhenOneIsSilentForAQuarterOfASecond) {
  Question question({kA, kB, kC});
  question.time(250ms).time(500ms);
  EXPECT_THAT(question.told(), ElementsAre("0: ask a:1 look at 250", "250: ask b:2 look at 500", "500: ask c:3"));
  EXPECT_EQ(question.discovery().missing(), "answer from Sentinel a:1, b:2, c:3");
  EXPECT_THAT(question.discovery().silent(), ElementsAre(kA, kB, kC));
}

TEST(Discovery, AsksTheNextAtOnceWhenOneFailsOrDoesNotKnow) {
  Question question({kA, kB, kC});
  question.fails(0, "Connection refused", 1ms).fails(1, "it knows no primary of this name", 3ms);
  EXPECT_THAT(question.told(), ElementsAre("0: ask a:1 look at 250", "1: ask b:2 look at 251", "3: ask c:3"));
  EXPECT_EQ(question.discovery().missing(),
            "answer from Sentinel c:3 (no Sentinel knows the primary: a:1: Connection refused; b:2: it knows no "
            "primary of this name)");
}

TEST(Discovery, IsLostWhenTheLastHasFailedAndNamesEachWithWhatItHasSaid) {
  Question question({kA, kB});
  question.time(250ms).fails(1, "NOAUTH Authentication required.", 251ms).fails(0, "Connection refused", 900ms);
  EXPECT_THAT(question.told(), ElementsAre("0: ask a:1 look at 250", "250: ask b:2", "251:", "900: lost"));
  EXPECT_EQ(question.discovery().problem(),
            "no Sentinel knows the primary: a:1: Connection refused; b:2: NOAUTH Authentication required.");
  EXPECT_THAT(question.discovery().silent(), IsEmpty());
}

TEST(Discovery, AsksAllInTheFirstHalfOfTheTimeThatThereIs) {
  Question question({kA, kB, kC}, 600ms);
  EXPECT_THAT(question.told(), ElementsAre("0: ask a:1 look at 100"));
}

// --- whom to ask ---

TEST(KnownSentinels, PutsTheOneThatWorkedFirstAndTheOneThatFailedLast) {
  KnownSentinels known({kA, kB, kC});
  known.worked(kB);
  EXPECT_THAT(known.order(), ElementsAre(kB, kA, kC));
  known.failed(kB);
  EXPECT_THAT(known.order(), ElementsAre(kA, kC, kB));
  known.worked({"stranger", 9});
  known.failed({"stranger", 9});
  EXPECT_THAT(known.order(), ElementsAre(kA, kC, kB));
}

TEST(KnownSentinels, AddsThoseOfWhichOthersTellOnce) {
  KnownSentinels known({kA});
  known.heard_of({kB, kA, kB});
  EXPECT_THAT(known.order(), ElementsAre(kA, kB));
}

TEST(KnownSentinels, HasABoundAndKeepsTheUsers) {
  KnownSentinels known({kA, kB});
  for (std::uint16_t port = 1; port <= 200; ++port) known.heard_of({{"gossip", port}});
  EXPECT_EQ(known.order().size(), KnownSentinels::kMost);
  known.failed(kA);
  known.heard_of({kC});
  EXPECT_EQ(std::ranges::count(known.order(), kC), 0) << "only one of the user's has failed";
  known.failed({"gossip", 7});
  known.heard_of({kC});
  EXPECT_EQ(known.order().size(), KnownSentinels::kMost);
  EXPECT_EQ(known.order().back(), kC);
  EXPECT_EQ(std::ranges::count(known.order(), NodeAddress{"gossip", 7}), 0);
  EXPECT_EQ(std::ranges::count(known.order(), kA), 1);
}

// --- what they say ---

Reply text(const std::string& words) { return {.kind = Reply::Kind::text, .text = words}; }
Reply list(std::vector<Reply> elements) { return {.kind = Reply::Kind::array, .elements = std::move(elements)}; }

TEST(SentinelWords, AnAnswerIsThePrimaryAndTheOtherSentinels) {
  const Answer answer =
      decode({list({text("10.0.0.1"), text("6379")}),
              list({list({text("name"), text("x"), text("ip"), text("10.0.0.2"), text("port"), text("26379")}),
                    list({text("port"), text("26380"), text("ip"), text("::1")}), list({text("ip"), text("h")})})});
  EXPECT_EQ(answer.primary, (NodeAddress{"10.0.0.1", 6379}));
  EXPECT_THAT(answer.sentinels, ElementsAre(NodeAddress{"10.0.0.2", 26379}, NodeAddress{"::1", 26380}));
}

TEST(SentinelWords, WhatIsNoAddressIsAProblem) {
  EXPECT_EQ(decode({Reply{}, Reply{}}).problem, "it knows no primary of this name");
  EXPECT_EQ(decode({{.kind = Reply::Kind::error, .text = "NOAUTH no"}, {}}).problem, "NOAUTH no");
  for (const Reply& odd :
       {list({}), list({text("h"), text("0")}), list({text("h"), text("1x")}), list({text(""), text("1")}),
        list({text("h"), text("70000")}), text("h:1"), Reply{.kind = Reply::Kind::error, .text = ""}}) {
    const Answer answer = decode({odd});
    EXPECT_FALSE(answer.primary);
    EXPECT_EQ(answer.problem, "its answer makes no sense");
  }
}

TEST(SentinelWords, WhatNoHostIsCalledIsNoAddress) {
  for (const std::string& odd :
       {std::string("10.0.0.1\0x", 10), std::string("a b"), std::string("a\nb"), std::string("u:p@h"),
        std::string("h/x"), std::string("[::1]"), std::string(256, 'h')}) {
    EXPECT_FALSE(decode({list({text(odd), text("6379")})}).primary) << odd;
    const Reply other = list({text("ip"), text(odd), text("port"), text("26379")});
    EXPECT_THAT(decode({list({text("h"), text("1")}), list({other})}).sentinels, ElementsAre()) << odd;
    EXPECT_FALSE(switched_to("main 10.0.0.1 1 " + odd + " 2", "main")) << odd;
  }
  EXPECT_TRUE(decode({list({text(std::string(255, 'h')), text("6379")})}).primary);
}

TEST(SentinelWords, AnAnnouncementCountsForItsNameOnly) {
  EXPECT_EQ(switched_to("main 10.0.0.1 1 10.0.0.2 2", "main"), (NodeAddress{"10.0.0.2", 2}));
  EXPECT_EQ(switched_to("main ::1 1 ::2 2", "main"), (NodeAddress{"::2", 2}));
  for (const char* other : {"maim 10.0.0.1 1 10.0.0.2 2", "main2 10.0.0.1 1 10.0.0.2 2", "main", "",
                            "main 10.0.0.1 1 10.0.0.2", "main 10.0.0.1 1 10.0.0.2 x", "main 10.0.0.1 1 10.0.0.2 2 3"}) {
    EXPECT_FALSE(switched_to(other, "main")) << other;
  }
}

TEST(SentinelWords, TheQuestionsNameThePrimary) {
  const auto commands = questions("main");
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_THAT(commands[0].args, ElementsAre("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"));
  EXPECT_THAT(commands[1].args, ElementsAre("SENTINEL", "SENTINELS", "main"));
  EXPECT_THAT(commands[2].args, ElementsAre("SENTINEL", "MASTER", "main"));
}

TEST(SentinelWords, ReadsHowManyReplicasAreOnRecord) {
  const auto counted = [](std::vector<std::string> fields) {
    const Reply address = list({text("10.0.0.1"), text("6379")});
    std::vector<Reply> words;
    for (std::string& field : fields) words.push_back(text(field));
    return decode({address, list({}), list(words)}).replicas;
  };
  EXPECT_EQ(counted({"name", "main", "num-slaves", "2", "quorum", "2"}), 2);
  EXPECT_EQ(counted({"num-slaves", "0"}), 0);
  EXPECT_EQ(counted({"num-slaves", "two"}), std::nullopt);
  EXPECT_EQ(counted({"num-slaves"}), std::nullopt);
  EXPECT_EQ(counted({"quorum", "2"}), std::nullopt);
}

}  // namespace
}  // namespace holdfast::redis::sentinel::sentinel_discovery_test
