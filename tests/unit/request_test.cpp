// SPDX-License-Identifier: Apache-2.0
// Which key says where a request goes.
#include "redis/connection/request.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::redis::request_test {
namespace {

using base::Command;

constexpr base::Script kScript{"test/script", "return 1", "0123"};

std::string key(std::vector<Command> commands) { return std::string(Request{std::move(commands), {}, {}}.key()); }

TEST(RequestKey, IsTheFirstOfAScript) {
  EXPECT_EQ(key({Command::call(kScript, "2", "lock", "channel", "owner")}), "lock");
}

TEST(RequestKey, IsNoneOfAScriptWithoutKeys) { EXPECT_EQ(key({Command::call(kScript, "0", "owner")}), ""); }

TEST(RequestKey, IsTheFirstArgumentOfAPlainCommand) { EXPECT_EQ(key({{{"HGETALL", "lock"}}}), "lock"); }

TEST(RequestKey, IsNoneWithoutArguments) {
  EXPECT_EQ(key({{{"PING"}}}), "");
  EXPECT_EQ(key({}), "");
}

TEST(RequestKey, IsThatOfTheFirstCommand) { EXPECT_EQ(key({{{"PTTL", "one"}}, {{"PTTL", "two"}}}), "one"); }

TEST(RequestKey, IsNotACopy) {
  const Request request = Request::of({{"PTTL", "lock"}}, {});
  EXPECT_EQ(request.key().data(), request.commands.front().args[1].data());
}

}  // namespace
}  // namespace holdfast::redis::request_test
