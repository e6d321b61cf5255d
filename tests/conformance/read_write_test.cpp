// SPDX-License-Identifier: Apache-2.0
// The read-write lock between parties: readers together, a writer alone.
#include "conformance.hpp"

namespace holdfast::test::read_write_test {
namespace {

/// What a taker calls the readers' side of the lock `orders`.
const std::string kReaders = "read:orders";

class ReadWrite : public Conformance {
 protected:
  ReadWrite() { set("kind", "read_write"); }

  Party& c() { return party(2); }
  bool gone() {
    return eventually([&] { return !site.exists("orders"); });
  }
  static void expect_prompt(const Pending& waiting, steady_clock::time_point since) {
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_LT(entered.ended - since, kPrompt);
  }
};
HOLDFAST_CONFORMANCE(ReadWrite, kEverySetting);

TEST_P(ReadWrite, ReadersHaveItTogetherAndAWriterAlone) {
  a().lock(kReaders);
  EXPECT_TRUE(b().try_lock(kReaders, kPrompt));
  EXPECT_FALSE(c().try_lock("orders"));
  EXPECT_TRUE(a().is_mine(kReaders));
  EXPECT_TRUE(b().is_mine(kReaders));
  EXPECT_FALSE(c().is_mine("orders"));
  EXPECT_EQ(a().unlock(kReaders), "released");
  EXPECT_FALSE(c().try_lock("orders", kAWhile)) << "one still reads";
  EXPECT_EQ(b().unlock(kReaders), "released");
  EXPECT_TRUE(c().try_lock("orders", kPrompt));
  EXPECT_FALSE(a().try_lock(kReaders, kAWhile));
  EXPECT_FALSE(b().try_lock("orders", kAWhile));
  EXPECT_EQ(c().unlock("orders"), "released");
  EXPECT_TRUE(gone());
}

TEST_P(ReadWrite, IsSeenAsLockedWhileSomebodyReadsOrWrites) {
  for (const std::string& side : {kReaders, std::string("orders")}) {
    EXPECT_FALSE(b().is_locked("orders"));
    a().lock(side);
    EXPECT_TRUE(b().is_locked("orders"));
    EXPECT_TRUE(b().remaining("orders").has_value());
    EXPECT_EQ(a().unlock(side), "released");
    EXPECT_TRUE(gone());
  }
}

TEST_P(ReadWrite, AWriterEntersAfterTheLastReader) {
  a().lock(kReaders);
  b().lock(kReaders);
  const Pending waiting = c().start_lock("orders");
  EXPECT_FALSE(waiting.answered(100ms));
  EXPECT_EQ(a().unlock(kReaders), "released");
  EXPECT_FALSE(waiting.answered(50ms));
  const auto released = steady_clock::now();
  EXPECT_EQ(b().unlock(kReaders), "released");
  expect_prompt(waiting, released);
}

TEST_P(ReadWrite, AllReadersEnterAfterAWriter) {
  a().lock("orders");
  const Pending one = b().start_lock(kReaders), two = c().start_lock(kReaders);
  EXPECT_FALSE(one.answered(100ms));
  EXPECT_FALSE(two.answered());
  const auto released = steady_clock::now();
  EXPECT_EQ(a().unlock("orders"), "released");
  expect_prompt(one, released);
  expect_prompt(two, released);
}

TEST_P(ReadWrite, ACancelledWriterHoldsNoReaderBack) {
  a().lock(kReaders);
  const Pending writer = b().start_lock("orders");
  EXPECT_FALSE(writer.answered(100ms));
  EXPECT_TRUE(b().cancel(writer));
  EXPECT_EQ(writer.get().word(), "cancelled");
  EXPECT_TRUE(c().try_lock(kReaders, kPrompt));
  EXPECT_EQ(a().unlock(kReaders), "released");
  EXPECT_EQ(c().unlock(kReaders), "released");
  EXPECT_TRUE(gone());
}

TEST_P(ReadWrite, RenewedReadersOutliveTheirLease) {
  a().lock(kReaders);
  b().lock(kReaders);
  EXPECT_FALSE(c().try_lock("orders", kLease * 3 / 2));
  EXPECT_EQ(b().unlock(kReaders), "released");
  EXPECT_FALSE(c().try_lock("orders", kLease * 3 / 2)) << "one still reads";
  EXPECT_GT(a().valid_for(kReaders), 0ms);
  EXPECT_EQ(a().unlock(kReaders), "released");
}

TEST_P(ReadWrite, AWriterEntersWhenTheLeaseOfAReaderEnds) {
  const Answer held = a().lock(kReaders, kLease);
  const Answer entered = b().start_lock("orders").get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_GE(entered.ended - held.began, kLease);
  EXPECT_LT(entered.ended - held.ended, kLease + kPrompt);
  EXPECT_EQ(a().unlock(kReaders), "was_lost");
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(ReadWrite, AForcedReleaseIsToldToAllReaders) {
  a().lock(kReaders);
  b().lock(kReaders);
  EXPECT_TRUE(c().force_release("orders"));
  EXPECT_TRUE(eventually([&] { return a().lost(kReaders) && b().lost(kReaders); }));
  EXPECT_TRUE(c().try_lock("orders", kPrompt));
  EXPECT_EQ(a().unlock(kReaders), "was_lost");
  EXPECT_EQ(b().unlock(kReaders), "was_lost");
  EXPECT_EQ(c().unlock("orders"), "released");
}

/// Writers count a number up while readers read it twice, under this side of a lock.
class ReadWriteCounting : public ReadWrite {
 protected:
  long long torn_reads(const std::string& readers) {
    set("lease_ms", 30s);
    std::vector<Pending> reading, writing;
    for (std::size_t i = 0; i < 3; ++i) {
      writing.push_back(party(2 * i).start("increment_for", "orders", {file_, "700", "1"}));
      reading.push_back(party(2 * i + 1).start("compare_for", readers, {file_, "700", "2", "5"}));
    }
    long long written = 0, torn = 0;
    for (const Pending& each : writing) {
      const Answer answer = each.get();
      EXPECT_TRUE(answer.ok) << answer.text;
      written += std::stoll(answer.value);
    }
    for (const Pending& each : reading) {
      const Answer answer = each.get();
      EXPECT_TRUE(answer.ok) << answer.text;
      EXPECT_GT(std::stoll(answer.value), 0);
      torn += std::stoll(answer.value.substr(answer.value.find('/') + 1));
    }
    EXPECT_EQ(read_number(file_), written);
    return torn;
  }

 private:
  TempDir folder_;
  std::string file_ = folder_.file("counter");
};
HOLDFAST_CONFORMANCE(ReadWriteCounting, kFewSettings);

TEST_P(ReadWriteCounting, NoReaderSeesAWriterAndNoUpdateIsLost) { EXPECT_EQ(torn_reads(kReaders), 0); }

/// That the case above can fail.
TEST_P(ReadWriteCounting, ReadersOfAnotherLockSeeWriters) { EXPECT_GT(torn_reads("read:others"), 0); }

class ReadWriteThreads : public ReadWrite {};
HOLDFAST_CONFORMANCE(ReadWriteThreads, kStdSettings);

TEST_P(ReadWriteThreads, AWriterGoesOnAsAReader) {
  a().lock("orders");
  a().lock(kReaders);
  const Pending reader = b().start_lock(kReaders);
  EXPECT_FALSE(reader.answered(100ms)) << "it still writes";
  const auto released = steady_clock::now();
  EXPECT_EQ(a().unlock("orders"), "still_held");
  expect_prompt(reader, released);
  EXPECT_FALSE(c().try_lock("orders"));
  EXPECT_TRUE(a().is_mine(kReaders));
  EXPECT_FALSE(a().is_mine("orders"));
  EXPECT_EQ(a().unlock(kReaders), "released");
  EXPECT_EQ(b().unlock(kReaders), "released");
  EXPECT_TRUE(gone());
}

TEST_P(ReadWriteThreads, EachSideCountsForItself) {
  for (int i = 0; i < 2; ++i) a().lock(kReaders);
  EXPECT_EQ(a().count(kReaders), 2);
  EXPECT_EQ(a().count("orders"), 0);
  EXPECT_EQ(a().unlock(kReaders), "still_held");
  EXPECT_FALSE(b().try_lock("orders"));
  EXPECT_EQ(a().unlock(kReaders), "released");
  EXPECT_TRUE(b().try_lock("orders", kPrompt));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(ReadWriteThreads, AReaderThatWantsToWriteIsRefusedAtOnce) {
  a().lock(kReaders);
  EXPECT_EQ(a().start_lock("orders").get().word(), "would_deadlock");
  EXPECT_FALSE(a().try_lock("orders"));
  EXPECT_EQ(a().unlock(kReaders), "released");
}

}  // namespace
}  // namespace holdfast::test::read_write_test
