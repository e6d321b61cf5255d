// SPDX-License-Identifier: Apache-2.0
// A read-write lock of very many readers is one, for all.
#include "scripts/read_write_state.hpp"

namespace holdfast::test::many_readers_test {
namespace {

using namespace read_write;

class ManyReaders : public testing::Test {
 protected:
  static constexpr int kReaders = 10'000;

  ManyReaders() {
    const std::string enter =
        "redis.call('HSET', KEYS[1], 'mode', 'read') for i = 1, tonumber(ARGV[1]) do "
        "local who = string.format('%08x-2222-4333-8444-555555555555:1', i) redis.call('HSET', KEYS[1], who, 1) "
        "redis.call('SET', '{L}:' .. who .. ':rwlock_timeout:1', 1, 'PX', 600000) end "
        "redis.call('PEXPIRE', KEYS[1], 600000)";
    EXPECT_FALSE(raw.command("EVAL", enter, 1, "L", kReaders).is_error());
  }
  long long readers() { return raw.command("HLEN", "L").integer - 1; }

  RedisServer server;
  Raw raw{server};
};

TEST_F(ManyReaders, LetOneMoreInAndOut) {
  ASSERT_EQ(readers(), kReaders);
  EXPECT_TRUE(run(raw, read(kA)).is_null());
  EXPECT_EQ(readers(), kReaders + 1);
  EXPECT_TRUE(run(raw, rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease)).elements.empty());
  EXPECT_EQ(run(raw, end_read(kA)).integer, 0);
  EXPECT_EQ(readers(), kReaders);
}

TEST_F(ManyReaders, KeepAWriterWaiting) {
  const Reply busy = run(raw, write(kA, true));
  EXPECT_FALSE(busy.is_error()) << busy.text;
  EXPECT_TRUE(wire::decode_acquire(busy).busy_for.has_value());
}

TEST_F(ManyReaders, AreSeenAndCanBeEndedByForce) {
  EXPECT_EQ(rw::decode_all(run(raw, rw::holders("L"))).size(), static_cast<std::size_t>(kReaders));
  EXPECT_EQ(run(raw, rw::force_release(kL, {}, Publish::publish)).integer, 1);
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

/// Nobody reads all of it, to find out.
TEST_F(ManyReaders, AreToldFromWhatIsNoLock) {
  raw.command("HDEL", "L", "mode");
  for (const base::Command& call : {read(kA), write(kA), rw::holders("L")}) {
    EXPECT_EQ(run(raw, call).text, "WRONGTYPE it is a hash of 10000 fields that is no lock");
  }
}

}  // namespace
}  // namespace holdfast::test::many_readers_test
