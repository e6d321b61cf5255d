// SPDX-License-Identifier: Apache-2.0
// A server with a user `app` whose rights a test grants and takes away.
#pragma once

#include <string>
#include <vector>

#include "faults.hpp"
#include "support/server_program.hpp"

namespace holdfast::test {

inline constexpr const char* kSecret = "s3cret";
/// More than enough; each test takes something away.
inline const std::vector<std::string> kRights{
    "on", ">s3cret", "~app:*", "resetchannels", "&redisson_lock__channel:{app:*}", "+@all"};

class Access : public Faults {
 protected:
  Access() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  void SetUp() override {
    if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no rights on channels";
  }

  /// Makes the user `app` anew.
  void grant(std::vector<std::string> rights, const std::vector<std::string>& more = {}) {
    rights.insert(rights.begin(), {"ACL", "SETUSER", "app", "reset"});
    rights.insert(rights.end(), more.begin(), more.end());
    const Reply reply = raw.send(rights);
    ASSERT_FALSE(reply.is_error()) << reply.text;
  }
  Config as_app(const std::string& password = kSecret) const { return config(server.url("app", password)); }
  std::string node() const { return config().node(); }
};

}  // namespace holdfast::test
