// SPDX-License-Identifier: Apache-2.0
// A user who may do everything but what a test takes away.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/raw.hpp"
#include "support/server_program.hpp"

namespace holdfast::test {

/// A connection of a user of this server who has all rights but these: words as ACL SETUSER takes them.
inline Raw user_without(const RedisServer& server, Raw& raw, const std::string& rights) {
  std::vector<std::string> args{"ACL", "SETUSER", "app", "reset", "on", ">secret", "~*", "+@all"};
  if (server_like_redis(6, 2)) args.emplace_back("&*");
  std::istringstream words(rights);
  for (std::string word; words >> word;) args.push_back(word);
  EXPECT_FALSE(raw.send(args).is_error());
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  return Raw(endpoint);
}

}  // namespace holdfast::test
