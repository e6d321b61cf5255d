// SPDX-License-Identifier: Apache-2.0
// Locks of every kind that nothing ends, since somebody took their expiry away or never set one: the doctor finds them,
// inspect shows them, and break frees them.
#include "cli_fixture.hpp"

namespace holdfast::test::eternal_test {
namespace {

using testing::HasSubstr;

/// One such lock: how it comes about, and the options with which the verbs see it.
struct Eternal {
  const char* title;
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> options;
  std::string owner;
  std::vector<std::string> keys;  // that are gone once it is broken
};
void PrintTo(const Eternal& each, std::ostream* out) { *out << each.title; }

const std::string kId = "ABCDEFGHIJKLMNOP";  // of a permit, and as it is shown
const std::string kPermit = "4142434445464748494a4b4c4d4e4f50";
const std::vector<std::string> kLock{"HSET", "eternal", kSomebody, "1"};

class NothingEndsIt : public CliTest, public testing::WithParamInterface<Eternal> {
 protected:
  NothingEndsIt() {
    for (const std::vector<std::string>& command : GetParam().commands) raw_.send(command);
  }
  Outcome verb(std::vector<std::string> args) const {
    args.insert(args.begin() + 1, GetParam().options.begin(), GetParam().options.end());
    return use(std::move(args));
  }
};
INSTANTIATE_TEST_SUITE_P(
    Kinds, NothingEndsIt,
    testing::Values(Eternal{"ALock", {kLock}, {}, kSomebody, {"eternal"}},
                    Eternal{"AFencedLock", {kLock}, {"--kind", "fenced"}, kSomebody, {"eternal"}},
                    Eternal{"AFairLock", {kLock}, {"--kind", "fair"}, kSomebody, {"eternal"}},
                    Eternal{"ASpinLock", {kLock}, {"--kind", "spin"}, kSomebody, {"eternal"}},
                    Eternal{"AWriter",
                            {{"HSET", "eternal", "mode", "write", kSomebody + ":write", "1"}},
                            {"--kind", "read-write"},
                            kSomebody,
                            {"eternal"}},
                    Eternal{"AReader",
                            {{"HSET", "eternal", "mode", "read", kSomebody, "1"},
                             {"SET", "{eternal}:" + kSomebody + ":rwlock_timeout:1", "1"}},
                            {"--kind", "read-write"},
                            kSomebody,
                            {"eternal", "{eternal}:" + kSomebody + ":rwlock_timeout:1"}},
                    Eternal{
                        "ASimpleLock", {{"SET", "eternal", "somebody"}}, {"--kind", "simple"}, "somebody", {"eternal"}},
                    Eternal{"APermit",
                            {{"SET", "eternal", "0"}, {"ZADD", "{eternal}:timeout", "9223372036854775807", kId}},
                            {"--kind", "permit"},
                            kPermit,
                            {"{eternal}:timeout"}}),
    testing::PrintToStringParamName());

TEST_P(NothingEndsIt, InspectShowsItAndBreakFreesIt) {
  const Outcome shown = verb({"inspect", "eternal"});
  EXPECT_EQ(shown.status, exited(0)) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("owner  " + GetParam().owner + "\n"));
  EXPECT_THAT(shown.out, HasSubstr("ttl    none\n"));
  EXPECT_EQ(verb({"break", "--yes", "--owner", "11111111-2222-4333-8444-555555555555:7", "eternal"}).status, exited(1));
  const Outcome broken = verb({"break", "--yes", "--owner", GetParam().owner, "eternal"});
  EXPECT_EQ(broken.status, exited(0)) << broken.err;
  for (const std::string& key : GetParam().keys) EXPECT_FALSE(raw_.exists(key)) << key;
}

TEST_P(NothingEndsIt, WhoWaitsForItIsToldThatNothingEndsIt) {
  const Outcome outcome = verb({"wait", "-w", "0.3", "eternal"});
  EXPECT_EQ(outcome.status, exited(1)) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(" has no expiry, so only its holder ends it, or holdfast break\n"));
}

class DoctorsAdvice : public CliTest {};

TEST_F(DoctorsAdvice, AboutALockWithoutAnExpiryIsOneThatHelps) {
  raw_.send(kLock);
  const std::string found = use({"doctor", "--json"}).out;
  EXPECT_THAT(found, HasSubstr("1 lock without expiry among 1 key: \\\"eternal\\\""));
  EXPECT_THAT(found, HasSubstr("find out whose they are (holdfast inspect), then holdfast break"));
  EXPECT_EQ(use({"run", "-n", "eternal", "--", "true"}).status, exited(69)) << "nobody waits for it";
  EXPECT_EQ(use({"inspect", "-q", "eternal"}).status, exited(0));
  EXPECT_EQ(use({"break", "--yes", "eternal"}).status, exited(0));
  EXPECT_EQ(use({"run", "-n", "eternal", "--", "true"}).status, exited(0));
}

}  // namespace
}  // namespace holdfast::test::eternal_test
