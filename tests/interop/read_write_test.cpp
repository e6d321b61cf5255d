// SPDX-License-Identifier: Apache-2.0
// ReadWriteLock and Redisson's RReadWriteLock: one lock, for the readers and the writers of both.
#include "counting.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::read_write_test {
namespace {

/// What a taker calls the readers' side of the lock `orders`.
const std::string kReaders = "read:orders";

class ReadWriteLocks : public Interop {
 protected:
  ReadWriteLocks() { set("kind", "read_write"); }

  bool waiting_for_it(long long listeners) { return listening("redisson_rwlock:{orders}", listeners); }
  /// One more thread of the same client.
  static Party beside(Party& party) { return {party.taker(), 2}; }
  std::string mode() { return raw.hgetall("orders")["mode"]; }
};
HOLDFAST_INTEROP(ReadWriteLocks, both_ways(kSomeRedissons));

TEST_P(ReadWriteLocks, ReadersOfBothSidesHaveItTogetherAndNoWriter) {
  holder().lock(kReaders, 20s);
  EXPECT_TRUE(other().try_lock(kReaders, 0ms, 20s));
  EXPECT_EQ(raw.hgetall("orders").size(), 3U) << "the mode and two readers";
  EXPECT_TRUE(holder().is_mine(kReaders));
  EXPECT_TRUE(other().is_mine(kReaders));
  EXPECT_FALSE(beside(holder()).try_lock("orders"));
  EXPECT_FALSE(beside(other()).try_lock("orders"));
  EXPECT_EQ(holder().unlock(kReaders), "released");
  EXPECT_FALSE(beside(holder()).try_lock("orders")) << "the other side still reads";
  EXPECT_EQ(other().unlock(kReaders), "released");
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_TRUE(holder().try_lock("orders"));
}

TEST_P(ReadWriteLocks, AWriterKeepsReadersAndWritersOut) {
  holder().lock("orders", 20s);
  EXPECT_FALSE(other().try_lock(kReaders));
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_EQ(other().unlock("orders"), "not_owner");
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(other().try_lock("orders"));
  EXPECT_FALSE(holder().try_lock(kReaders));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(ReadWriteLocks, AWriterThatGoesOnAsAReaderIsSeenByTheOther) {
  holder().lock("orders", 20s);
  holder().lock(kReaders, 20s);
  EXPECT_FALSE(other().try_lock(kReaders)) << "it still writes";
  // Holdfast says that the thread still has the lock; with Redisson it has another one.
  EXPECT_EQ(holder().unlock("orders"), first_side() == Side::holdfast ? "still_held" : "released");
  EXPECT_EQ(mode(), "read");
  EXPECT_TRUE(other().try_lock(kReaders, kPrompt, 20s));
  EXPECT_FALSE(beside(other()).try_lock("orders"));
  EXPECT_EQ(holder().unlock(kReaders), "released");
  EXPECT_FALSE(holder().try_lock("orders"));
  EXPECT_EQ(other().unlock(kReaders), "released");
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

TEST_P(ReadWriteLocks, AWriterEntersSoonAfterTheLastReader) {
  holder().lock(kReaders, 20s);
  other().lock(kReaders, 20s);
  const Pending waiting = beside(other()).start_lock("orders");
  EXPECT_FALSE(waiting.answered(50ms));
  EXPECT_EQ(other().unlock(kReaders), "released");
  ASSERT_TRUE(waiting_for_it(1)) << "the other side still reads";
  EXPECT_FALSE(waiting.answered());
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock(kReaders), "released");
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
}

TEST_P(ReadWriteLocks, AllReadersEnterSoonAfterAWriter) {
  holder().lock("orders", 20s);
  const long long before = scripts_run();
  const Pending one = other().start_lock(kReaders, 20s), two = beside(other()).start_lock(kReaders, 20s);
  ASSERT_TRUE(waiting_for_it(1));
  ASSERT_TRUE(about_to_sleep(2, before));
  // Redisson wakes as many readers as sleep when the message comes; one that is about to would sleep until its lease is
  // over.
  EXPECT_FALSE(two.answered(500ms));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("orders"), "released");
  for (const Pending& each : {one, two}) {
    const Answer entered = each.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_LT(entered.ended - released, kPrompt);
  }
}

TEST_P(ReadWriteLocks, RenewedReadersOfBothSidesOutliveTheirLeases) {
  holder().lock(kReaders);
  other().lock(kReaders);
  const auto owners = raw.hgetall("orders");
  EXPECT_FALSE(beside(other()).try_lock("orders", 2 * kLease));
  EXPECT_EQ(other().unlock(kReaders), "released");
  EXPECT_FALSE(beside(other()).try_lock("orders", kLease * 3 / 2));
  EXPECT_TRUE(holder().is_mine(kReaders));
  EXPECT_EQ(owners.size(), 3U);
  EXPECT_EQ(holder().unlock(kReaders), "released");
}

TEST_P(ReadWriteLocks, AKilledReaderIsFollowedWhenItsLeaseEnds) {
  const Standstill still;
  holder().lock(kReaders);
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(waiting_for_it(1));
  const auto killed = steady_clock::now();
  kill(holder().taker());
  const milliseconds rest(raw.pttl("orders"));
  const auto looked = steady_clock::now();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  // Up to 5 ms for the roundings of the server and of this test.
  EXPECT_GE(entered.ended, killed + rest - 5ms);
  EXPECT_LE(entered.ended, looked + kLease + 500ms + still.total());
  EXPECT_EQ(other().unlock("orders"), "released");
}

/// Writers count a number up while readers read it twice.
class ReadWriteCounting : public Counting {
 protected:
  /// How often a side's readers compared, and how often what they read differed.
  struct Compared {
    long long of_peer = 0, of_holdfast = 0, torn = 0;
  };

  /// Redisson's waiters miss the message of a writer's release, of either side, that comes between their attempt and
  /// their sleep; then they sleep for as long as the lock had to live.
  ReadWriteCounting() {
    set("kind", "read_write");
    set("lease_ms", 5s);
  }

  /// Of the four processes each has a thread that writes and two that read, for so long. Readers pause outside of the
  /// lock too: Redisson lets no writer in as long as somebody reads.
  Compared read_while_counting(const std::string& readers, milliseconds time) {
    std::vector<Worker> writers = two_processes_each(1, "orders");
    std::vector<std::pair<Side, Pending>> reading;
    for (const Worker& writer : writers) {
      for (const int thread : {2, 3}) {
        Party reader(writer.party.taker(), thread);
        reading.emplace_back(writer.side, reader.start("compare_for", readers, {file(), number(time), "2", "20"}));
      }
    }
    const Counts written = count_up(writers, time);
    EXPECT_EQ(counted(), written.sum());
    EXPECT_GT(written.of_peer, 0);
    EXPECT_GT(written.of_holdfast, 0);
    Compared all;
    for (const auto& [side, pending] : reading) {
      const Answer answer = pending.get();
      EXPECT_TRUE(answer.ok) << answer.text;
      (side == Side::peer ? all.of_peer : all.of_holdfast) += std::stoll(answer.value);
      all.torn += std::stoll(answer.value.substr(answer.value.find('/') + 1));
    }
    figure("numbers written", number(written.sum()));
    return all;
  }

  static std::string number(long long value) { return std::to_string(value); }
  static std::string number(milliseconds value) { return number(value.count()); }
};
HOLDFAST_INTEROP(ReadWriteCounting, once(kSomeRedissons));

TEST_P(ReadWriteCounting, NoReaderSeesAWriterAndNoUpdateIsLost) {
  const Compared all = read_while_counting(kReaders, 2s);
  EXPECT_EQ(all.torn, 0) << "of " << all.of_peer + all.of_holdfast;
  EXPECT_GT(all.of_peer, 0);
  EXPECT_GT(all.of_holdfast, 0);
  figure("numbers read", number(all.of_peer + all.of_holdfast));
}

/// That the case above can fail.
TEST_P(ReadWriteCounting, ReadersOfAnotherLockSeeWriters) {
  EXPECT_GT(read_while_counting("read:others", 500ms).torn, 0);
}

}  // namespace
}  // namespace holdfast::test::read_write_test
