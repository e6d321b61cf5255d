// SPDX-License-Identifier: Apache-2.0
// What is shown of a URL that is wrong: enough to find the mistake, and never a login.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/refusal.hpp"

namespace holdfast::test::bad_url_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BadUrl, IsShownUpToTheQueryWithoutItsLogin) {
  EXPECT_THAT(refusal_of_url("redis://ann:word@cache:99999/3?lease=1s").text,
              HasSubstr("the URL \"redis://***@cache:99999/3?...\": the port"));
  EXPECT_THAT(refusal_of_url("redis://cache/x").text, HasSubstr("the URL \"redis://cache/x\": the database"));
  EXPECT_THAT(refusal_of_url("redis://cache:99999/3").text, HasSubstr("the URL \"redis://cache:***\": the port"));
  EXPECT_THAT(refusal_of_url("redis://ann:word").text, HasSubstr("the URL \"redis://ann:***\": the port"));
  EXPECT_THAT(refusal_of_url("redis://wo$d:1x").text, HasSubstr("the URL \"redis://***\": the host"));
}

TEST(BadUrl, ALoginIsNoServerThatSomebodyMeant) {
  for (const char* text : {"ann:word", "ann:123456", ":word", "word", "ann:word@cache", "12345", "default:"}) {
    EXPECT_THAT(refusal_of_url(text).text, Not(testing::ContainsRegex("did you mean|word"))) << text;
  }
}

}  // namespace
}  // namespace holdfast::test::bad_url_test
