// SPDX-License-Identifier: Apache-2.0
// The spin lock's scripts: the plain lock's changes, and never a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/spin_lock.hpp"
#include "scripts/script_call.hpp"
#include "support/listen.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::spin_scripts_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
namespace spin = wire::spin;

class SpinScripts : public testing::TestWithParam<SendBy> {
 protected:
  SpinScripts() {
    for (const base::Script* script : all_scripts()) raw_.command("SCRIPT", "LOAD", std::string(script->text));
  }
  Reply call(const base::Command& command) { return run(raw_, command, GetParam()); }
  Reply take(const wire::Owner& owner) { return call(lock::acquire(names_, owner, 60s)); }
  Reply give_back(const wire::Owner& owner) { return call(spin::release({{&names_, 1}, owner})); }

  RedisServer server_;
  Raw raw_{server_};
  const wire::LockNames names_ = wire::lock::names("L");
  Subscriber listener_{server_, {names_.channel}};
};
INSTANTIATE_TEST_SUITE_P(By, SpinScripts, testing::Values(SendBy::text, SendBy::hash),
                         [](const auto& each) { return each.param == SendBy::text ? "Text" : "Hash"; });

TEST_P(SpinScripts, release_gives_back_its_own_and_tells_nobody) {
  EXPECT_TRUE(give_back(kA).is_null()) << "there is none";
  ASSERT_TRUE(take(kA).is_null());
  EXPECT_TRUE(give_back(kB).is_null());
  EXPECT_EQ(raw_.hgetall("L"), (std::map<std::string, std::string>{{kA.text, "1"}}));
  const Reply released = give_back(kA);
  EXPECT_EQ(wire::decode_release(base::Reply{base::Reply::Kind::integer, released.integer, {}, {}}), 0);
  EXPECT_FALSE(raw_.exists("L"));
  EXPECT_TRUE(give_back(kA).is_null()) << "once more";
}

TEST_P(SpinScripts, force_release_takes_it_from_whoever_has_it_or_from_one_owner) {
  EXPECT_EQ(call(spin::force_release(names_)).integer, 0);
  take(kA);
  EXPECT_EQ(call(spin::force_release(names_, kB)).integer, 0);
  EXPECT_TRUE(raw_.exists("L"));
  EXPECT_EQ(call(spin::force_release(names_, kA)).integer, 1);
  EXPECT_FALSE(raw_.exists("L"));
  take(kB);
  EXPECT_EQ(call(spin::force_release(names_)).integer, 1);
  EXPECT_FALSE(raw_.exists("L"));
}

TEST_P(SpinScripts, what_is_no_lock_is_an_error_and_stays) {
  raw_.command("HSET", "L", "a", "1", "b", "2");
  EXPECT_THAT(call(spin::force_release(names_)).text, HasSubstr("WRONGTYPE it is a hash of 2 fields that is no lock"));
  EXPECT_TRUE(give_back(kA).is_null());
  EXPECT_EQ(raw_.hgetall("L").size(), 2U);
  raw_.command("DEL", "L");
  raw_.command("SET", "L", "x");
  EXPECT_THAT(call(spin::force_release(names_)).text, HasSubstr("WRONGTYPE it is a string"));
  EXPECT_THAT(give_back(kA).text, HasSubstr("WRONGTYPE"));
  EXPECT_EQ(raw_.command("GET", "L").text, "x");
}

TEST_P(SpinScripts, nobody_is_told_of_anything) {
  for (int i = 0; i < 3; ++i) {
    take(kA);
    give_back(kA);
    take(kA);
    call(spin::force_release(names_));
  }
  EXPECT_THAT(listener_.messages(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test::spin_scripts_test
