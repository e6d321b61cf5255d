// SPDX-License-Identifier: Apache-2.0
// Passwords that a server says back.
#include <string>

#include <gtest/gtest.h>

#include "redis/decide/resp.hpp"

namespace holdfast::redis::sent_secrets_test {
namespace {

SentSecrets secrets_of(std::initializer_list<const char*> all) {
  SentSecrets secrets;
  for (const char* each : all) secrets.add(each);
  return secrets;
}

TEST(SentSecrets, AreReplacedWhereverTheyAre) {
  const SentSecrets secrets = secrets_of({"hunter2", "hunter"});
  EXPECT_EQ(secrets.hidden_in("ERR no"), "ERR no");
  EXPECT_EQ(secrets.hidden_in("hunter2"), "***");
  EXPECT_EQ(secrets.hidden_in("a hunter2, hunter and hunter2hunter2"), "a ***, *** and ******");
  EXPECT_EQ(secrets.hidden_in("hunte"), "hunte");
  EXPECT_EQ(SentSecrets().hidden_in("hunter2"), "hunter2");
}

TEST(SentSecrets, AnEmptyOneIsNone) { EXPECT_EQ(secrets_of({""}).hidden_in("abc"), "abc"); }

TEST(SentSecrets, TheLastFewAreRemembered) {
  SentSecrets secrets;
  for (int i = 10; i < 100; ++i) secrets.add("token" + std::to_string(i));
  EXPECT_EQ(secrets.hidden_in("token98 token99"), "*** ***");
  EXPECT_EQ(secrets.hidden_in("token10"), "token10");
}

TEST(SentSecrets, TheBeginningOfATextMayEndWithinOne) {
  const SentSecrets secrets = secrets_of({"hunter2"});
  EXPECT_EQ(secrets.hidden_in_beginning("says hunt"), "says ***");
  EXPECT_EQ(secrets.hidden_in_beginning("says h"), "says ***");
  EXPECT_EQ(secrets.hidden_in_beginning("says hunter2"), "says ***");
  EXPECT_EQ(secrets.hidden_in_beginning("hunter2 says no"), "*** says no");
  EXPECT_EQ(secrets.hidden_in_beginning(""), "");
}

TEST(SentSecrets, AreNotInWhatAParserFindsWrong) {
  const SentSecrets secrets = secrets_of({"hunter2"});
  for (std::size_t before = 0; before < 80; ++before) {
    for (const std::string& end : {std::string("hunter2\r\n"), std::string("hunter2"), std::string("hunt")}) {
      Parser parser({.bytes = 1000, .elements = 10}, &secrets);
      EXPECT_FALSE(parser.next("?" + std::string(before, '.') + end));
      EXPECT_EQ(parser.problem().find("hun"), std::string::npos) << parser.problem();
      EXPECT_NE(parser.problem().find("begins with"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace holdfast::redis::sent_secrets_test
