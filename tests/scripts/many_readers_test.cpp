// SPDX-License-Identifier: Apache-2.0
// A read-write lock of very many readers is one, for all.
#include <string>
#include <vector>

#include "scripts/read_write_state.hpp"
#include "scripts/user_without.hpp"
#include "support/listen.hpp"

namespace holdfast::test::many_readers_test {
namespace {

using namespace read_write;
using testing::Contains;
using testing::Not;

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
  /// What the script of a call does.
  std::vector<std::string> commands_of(const base::Command& call) {
    Monitor monitor(server);
    EXPECT_FALSE(run(raw, call).is_error());
    std::vector<std::string> names;
    for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) names.push_back(line.args.at(0));
    return names;
  }
  void one_more_in_and_out(Raw& by) {
    EXPECT_TRUE(run(by, read(kA)).is_null());
    EXPECT_EQ(readers(), kReaders + 1);
    EXPECT_TRUE(run(by, rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease)).elements.empty());
    EXPECT_EQ(run(by, end_read(kA)).integer, 0);
    EXPECT_EQ(readers(), kReaders);
  }
  long long readers() { return raw.command("HLEN", "L").integer - 1; }

  RedisServer server;
  Raw raw{server};
};

TEST_F(ManyReaders, LetOneMoreInAndOut) {
  ASSERT_EQ(readers(), kReaders);
  one_more_in_and_out(raw);
}

/// Each reader of a crowd comes and goes, so what it costs must not grow with the crowd.
TEST_F(ManyReaders, AreNotAllReadForOneOfThem) {
  for (const base::Command& call : {read(kA), end_read(kA), write(kA, true)}) {
    const std::vector<std::string> commands = commands_of(call);
    EXPECT_THAT(commands, Not(Contains("HGETALL")));
    EXPECT_LE(commands.size(), 20U);
  }
}

TEST_F(ManyReaders, AreAllReadWithoutTheRightToReadSome) {
  for (const std::string right : {"-hscan", "-hget"}) {
    SCOPED_TRACE(right);
    Raw limited = user_without(server, raw, right);
    one_more_in_and_out(limited);
    EXPECT_TRUE(run(limited, write(kA, true)).is_array());
  }
}

TEST_F(ManyReaders, LetNobodyInWithoutTheRightToReadAny) {
  Raw limited = user_without(server, raw, "-hscan -hgetall");
  for (const base::Command& call : {read(kA), write(kA)}) {
    EXPECT_TRUE(run(limited, call).is_error());
    EXPECT_EQ(readers(), kReaders);
  }
}

TEST_F(ManyReaders, HaveTheLockForAsLongAsTheLongestThatIsLeft) {
  EXPECT_TRUE(run(raw, rw::acquire_read({{&kL, 1}, kA, milliseconds(900'000)})).is_null());
  EXPECT_GT(raw.command("PTTL", "L").integer, 600'000);
  EXPECT_EQ(run(raw, end_read(kA)).integer, 0);
  const long long left = raw.command("PTTL", "L").integer;
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 600'000);
}

TEST_F(ManyReaders, WhoseLeasesAreOverHaveItNoMore) {
  raw.command("EVAL", "for _, hold in ipairs(redis.call('KEYS', '*:rwlock_timeout:1')) do redis.call('DEL', hold) end",
              0);
  EXPECT_TRUE(run(raw, read(kA)).is_null());
  EXPECT_EQ(run(raw, end_read(kA)).integer, 0) << "nobody listens";
  EXPECT_FALSE(raw.exists("L"));
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

TEST_F(ManyReaders, AreToldFromWhatHasAMode) {
  raw.command("EVAL",
              "redis.call('DEL', 'L') for i = 1, 2000 do redis.call('HSET', 'L', 'mode', 'read', 'f' .. i, 1) end "
              "redis.call('PEXPIRE', 'L', 600000)",
              0);
  for (const base::Command& call : {read(kA), write(kA), rw::holders("L")}) {
    EXPECT_EQ(run(raw, call).text, "WRONGTYPE it is a hash of 2001 fields that is no lock");
  }
}

}  // namespace
}  // namespace holdfast::test::many_readers_test
