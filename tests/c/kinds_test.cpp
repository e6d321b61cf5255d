// SPDX-License-Identifier: Apache-2.0
// Each kind of lock by each way to take and to give back.
#include <map>
#include <mutex>

#include "c/c.hpp"
#include "support/counter.hpp"

namespace holdfast::test::c::kinds_test {
namespace {

/// A kind, and how a client opens it.
struct Kind {
  const char* name;
  std::function<Lock(hf_client*)> open;  // null: a RedLock, which has several servers
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

Lock open_kind(hf_client* client, int kind, const char* name = "orders") {
  Lock lock;
  EXPECT_TRUE(ok(hf_lock_open(client, kind, name, nullptr, lock.out())));
  return lock;
}

Lock open_leased(hf_client* client) {
  Lock lock = open_kind(client, HF_LEASED);
  EXPECT_TRUE(ok(hf_permits_init(lock, 1, HF_UNSET, nullptr)));
  return lock;
}

Lock open_multi(hf_client* client) {
  const Lock one = open_kind(client, HF_LOCK, "one");
  const Lock two = open_kind(client, HF_LOCK, "two");
  Lock all;
  EXPECT_TRUE(ok(hf_multi_open(std::vector<hf_lock*>{one, two}.data(), 2, nullptr, all.out())));
  return all;
}

Lock open_any(hf_client* client) {
  const char* const names[] = {"orders"};
  Lock lock;
  EXPECT_TRUE(ok(hf_any_open(client, names, 1, nullptr, lock.out())));
  return lock;
}

const std::vector<Kind> kKinds{
    {"lock", [](hf_client* client) { return open_kind(client, HF_LOCK); }},
    {"simple", [](hf_client* client) { return open_kind(client, HF_SIMPLE); }},
    {"fenced", [](hf_client* client) { return open_kind(client, HF_FENCED); }},
    {"fair", [](hf_client* client) { return open_kind(client, HF_FAIR); }},
    {"spin", [](hf_client* client) { return open_kind(client, HF_SPIN); }},
    {"write", [](hf_client* client) { return open_kind(client, HF_WRITE); }},
    {"leased", open_leased},
    {"multi", open_multi},
    {"red", nullptr},
    {"any", open_any},
};

class Kinds : public Calls, public testing::WithParamInterface<Kind> {
 protected:
  Lock open(hf_client* by) { return GetParam().open ? GetParam().open(by) : open_red(by); }
  /// With clients of its own at the two other servers, which stay as long as this.
  Lock open_red(hf_client* by) {
    std::vector<Lock> locks;
    locks.push_back(lock_of(by, HF_LOCK, "one"));
    for (const RedisServer& other : others) {
      Client own;
      EXPECT_TRUE(ok(hf_client_open(other.url().c_str(), own.out())));
      locks.push_back(lock_of(own, HF_LOCK, "one"));
      const std::lock_guard guard(mutex);
      clients.push_back(std::move(own));
    }
    std::vector<hf_lock*> members;
    for (const Lock& each : locks) members.push_back(each);
    Lock all;
    EXPECT_TRUE(ok(hf_red_open(members.data(), members.size(), nullptr, all.out())));
    return all;
  }
  void lose_all() {
    raw.flushall();
    for (const RedisServer& other : others) Raw(other).flushall();
  }

  std::vector<RedisServer> others{GetParam().open ? 0U : 2U};
  std::mutex mutex;
  std::vector<Client> clients;
};

TEST_P(Kinds, OneHoldsItAndAnotherDoesNot) {
  const Lock lock = open(client);
  Hold hold = held(lock);
  EXPECT_GT(hf_hold_valid_for(hold), 0);
  EXPECT_EQ(hf_hold_check(hold), HF_OK);
  EXPECT_EQ(hf_hold_state(hold), HF_HELD);
  EXPECT_EQ(hf_hold_loss_reason(hold), -1);
  EXPECT_STRNE(hf_hold_owner(hold), "");

  const Client other = another_client();
  const Lock theirs = open(other);
  const hf_options once = waiting(0);
  Hold none;
  EXPECT_EQ(hf_lock_acquire(theirs, &once, none.out()), HF_BUSY);
  const hf_options shortly = waiting(30);
  EXPECT_EQ(hf_lock_acquire(theirs, &shortly, none.out()), HF_TIMED_OUT);
  EXPECT_EQ(none.get(), nullptr);

  int outcome = -1;
  EXPECT_TRUE(ok(hf_hold_release(hold, &outcome)));
  EXPECT_EQ(outcome, HF_RELEASED);
  EXPECT_TRUE(ok(hf_hold_release(hold, &outcome)));
  EXPECT_EQ(outcome, HF_RELEASED) << "as the first time";
  EXPECT_EQ(hf_hold_valid_for(hold), 0);
  EXPECT_EQ(hf_hold_check(hold), HF_NOT_OWNER);
  EXPECT_TRUE(ok(hf_lock_acquire(theirs, &once, none.out())));
}

TEST_P(Kinds, AQueueHasWhatWasStarted) {
  const Lock lock = open(client);
  ASSERT_TRUE(ok(hf_lock_acquire_async(lock, nullptr, queue, 1)));
  Completed first = next(queue);
  EXPECT_EQ(first.tag, 1U);
  ASSERT_EQ(first.code, HF_OK) << first.text;
  ASSERT_NE(first.hold.get(), nullptr);

  const Client other = another_client();
  const Lock theirs = open(other);
  ASSERT_TRUE(ok(hf_lock_acquire_async(theirs, nullptr, queue, 2)));
  EXPECT_EQ(next(queue, 50).code, HF_NOTHING) << "it waits";
  ASSERT_TRUE(ok(hf_hold_release_async(first.hold, queue, 3)));
  std::map<std::uint64_t, Completed> both;
  for (int i = 0; i < 2; ++i) {
    Completed each = next(queue);
    ASSERT_EQ(each.code, HF_OK) << each.text;
    const std::uint64_t tag = each.tag;
    both.emplace(tag, std::move(each));
  }
  EXPECT_EQ(both.at(3).value, HF_RELEASED);
  EXPECT_GT(hf_hold_valid_for(both.at(2).hold), 0);
}

TEST_P(Kinds, KeepsThreadsOfSeveralClientsApart) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const Client own = another_client();
        const Lock lock = open(own);
        for (int round = 0; round < kRounds; ++round) {
          Hold hold = held(lock);
          counter.increment();
          int outcome = -1;
          EXPECT_TRUE(ok(hf_hold_release(hold, &outcome)));
        }
      });
    }
  }
  EXPECT_EQ(counter.calls(), kThreads * kRounds);
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GT(lost_without_a_lock(kThreads, kRounds), 0);
}

TEST_P(Kinds, AHoldThatIsFreedIsGivenBack) {
  const Lock lock = open(client);
  held(lock).free();
  const Client other = another_client();
  const Lock theirs = open(other);
  const Hold next_one = held(theirs);
  EXPECT_GT(hf_hold_valid_for(next_one), 0);
}

TEST_P(Kinds, ACancelledCallLeavesNothing) {
  const Lock lock = open(client);
  Hold hold = held(lock);
  const Client other = another_client();
  const Lock theirs = open(other);
  ASSERT_TRUE(ok(hf_lock_acquire_async(theirs, nullptr, queue, 1)));
  EXPECT_EQ(next(queue, 30).code, HF_NOTHING);
  hf_queue_cancel(queue, 1);
  EXPECT_EQ(next(queue).code, HF_CANCELLED);
  ASSERT_TRUE(ok(hf_lock_acquire_async(theirs, nullptr, queue, 1))) << "the tag is free again";
  queue.free();
  hold.free();
  // Nobody is left who would be granted it.
  for (int i = 0; i < 2; ++i) {
    const Client third = another_client();
    const Lock free = open(third);
    const hf_options patient = waiting(kPatience);
    Hold again;
    ASSERT_TRUE(ok(hf_lock_acquire(free, &patient, again.out())));
    EXPECT_TRUE(ok(hf_hold_release(again, nullptr)));
  }
}

TEST_P(Kinds, ALossCompletesItsCall) {
  const Lock lock = open(client);
  Hold hold = held(lock);
  ASSERT_TRUE(ok(hf_hold_wait_lost_async(hold, queue, 7)));
  EXPECT_EQ(next(queue, 30).code, HF_NOTHING);
  lose_all();
  Completed told = next(queue);
  EXPECT_EQ(told.code, HF_OK) << told.text;
  EXPECT_EQ(told.value, HF_TAKEN);
  EXPECT_EQ(hf_hold_valid_for(hold), 0);
  EXPECT_EQ(hf_hold_check(hold), HF_LOST);
  EXPECT_EQ(hf_hold_state(hold), HF_STATE_LOST);
  EXPECT_EQ(hf_hold_loss_reason(hold), HF_TAKEN);
  int outcome = -1;
  EXPECT_TRUE(ok(hf_hold_release(hold, &outcome)));
  EXPECT_EQ(outcome, HF_WAS_LOST);
}

TEST_P(Kinds, ARequestForTheLockCompletesItsCall) {
  const Lock lock = open(client);
  Hold hold = held(lock);
  const Client other = another_client();
  const std::string kind = GetParam().name;
  const Lock wanted = lock_of(other, HF_LOCK, kind == "multi" || kind == "red" ? "one" : "orders");
  std::size_t heard = 9;
  EXPECT_TRUE(ok(hf_lock_ask_release(wanted, &heard)));
  EXPECT_EQ(heard, 0U) << "it does not listen yet";

  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 7)));
  EXPECT_EQ(next(queue, 30).code, HF_NOTHING);
  EXPECT_TRUE(soon([&] { return hf_lock_ask_release(wanted, &heard) == HF_OK && heard == 1; }));
  Completed told = next(queue);
  EXPECT_EQ(told.tag, 7U);
  EXPECT_EQ(told.code, HF_OK) << told.text;
  EXPECT_EQ(told.value, 1);
  EXPECT_EQ(hf_hold_check(hold), HF_OK) << "it ends nothing";

  ASSERT_TRUE(ok(hf_lock_ask_release_async(wanted, queue, 8)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_EQ(next(queue, 50).code, HF_NOTHING) << "time for the request to arrive";
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 7)));
  EXPECT_EQ(next(queue).value, 1) << "what came meanwhile was kept";

  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 7)));
  ASSERT_TRUE(ok(hf_hold_release(hold, nullptr)));
  told = next(queue);
  EXPECT_EQ(told.tag, 7U);
  EXPECT_EQ(told.code, HF_CANCELLED);
  EXPECT_EQ(hf_hold_wait_asked_async(hold, queue, 7), HF_NOT_OWNER);
}

INSTANTIATE_TEST_SUITE_P(C, Kinds, testing::ValuesIn(kKinds),
                         [](const auto& each) { return std::string(each.param.name); });

class OtherKinds : public Calls {};

TEST_F(OtherKinds, ReadersShareAndAWriterBecomesOne) {
  const Lock reader = lock(HF_READ);
  const Hold one = held(reader);
  Hold two = held(reader);
  const Lock writer = lock(HF_WRITE);
  const hf_options once = waiting(0);
  Hold none;
  EXPECT_EQ(hf_lock_acquire(writer, &once, none.out()), HF_BUSY);
  EXPECT_EQ(hf_hold_downgrade(two), HF_INVALID_ARGUMENT) << "it is none of a writer";
  int outcome = -1;
  EXPECT_TRUE(ok(hf_hold_release(one, &outcome)));
  EXPECT_TRUE(ok(hf_hold_release(two, &outcome)));

  for (const bool waits : {true, false}) {
    Hold writing = held(writer);
    EXPECT_EQ(hf_lock_acquire(reader, &once, none.out()), HF_BUSY);
    if (waits) {
      EXPECT_TRUE(ok(hf_hold_downgrade(writing)));
    } else {
      EXPECT_TRUE(ok(hf_hold_downgrade_async(writing, queue, 1)));
      EXPECT_EQ(next(queue).code, HF_OK);
    }
    Hold beside;
    EXPECT_TRUE(ok(hf_lock_acquire(reader, &once, beside.out())));
    EXPECT_TRUE(ok(hf_hold_release(beside, nullptr)));
    EXPECT_TRUE(ok(hf_hold_release(writing, nullptr)));
  }
}

TEST_F(OtherKinds, TokensGrow) {
  const Lock fenced = lock(HF_FENCED);
  std::int64_t latest = -1;
  EXPECT_TRUE(ok(hf_lock_latest_token(fenced, &latest)));
  EXPECT_EQ(latest, 0);
  Hold one = held(fenced);
  EXPECT_EQ(hf_hold_token(one), 1);
  EXPECT_TRUE(ok(hf_hold_release(one, nullptr)));
  const Hold two = held(fenced);
  EXPECT_EQ(hf_hold_token(two), 2);
  EXPECT_TRUE(ok(hf_lock_latest_token(fenced, &latest)));
  EXPECT_EQ(latest, 2);
  EXPECT_EQ(hf_lock_latest_token(lock(HF_LOCK, "other"), &latest), HF_INVALID_ARGUMENT);
}

TEST_F(OtherKinds, PermitsAreCounted) {
  hf_options two = options();
  two.permits = 2;
  const Lock pool = lock_of(client, HF_LEASED, "pool", &two);
  const hf_options once = waiting(0);
  Hold hold;
  EXPECT_EQ(hf_lock_acquire(pool, &once, hold.out()), HF_NOT_SET);
  int set = -1;
  std::int64_t number = -1;
  EXPECT_TRUE(ok(hf_permits_init(pool, 3, 3'600'000, &set)));
  EXPECT_EQ(set, 1);
  EXPECT_GT(raw.pttl("pool"), 0);
  EXPECT_TRUE(ok(hf_permits_init_async(pool, 9, queue, 1)));
  EXPECT_EQ(next(queue).value, 0) << "it was set";
  EXPECT_TRUE(ok(hf_lock_acquire(pool, &once, hold.out())));
  EXPECT_TRUE(ok(hf_permits_available(pool, &number)));
  EXPECT_EQ(number, 1);
  Hold none;
  EXPECT_EQ(hf_lock_acquire(pool, &once, none.out()), HF_BUSY);
  EXPECT_TRUE(ok(hf_permits_add(pool, 1, &number)));
  EXPECT_EQ(number, 2);
  EXPECT_TRUE(ok(hf_permits_add_async(pool, -1, queue, 1)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_permits_set_total(pool, 5, &number)));
  EXPECT_EQ(number, 3);
  EXPECT_TRUE(ok(hf_permits_set_total_async(pool, 4, queue, 1)));
  EXPECT_EQ(next(queue).value, 2);
  EXPECT_TRUE(ok(hf_permits_available_async(pool, queue, 1)));
  EXPECT_EQ(next(queue).value, 2);
  EXPECT_TRUE(ok(hf_permits_remove(pool, &set)));
  EXPECT_EQ(set, 1);
  EXPECT_GT(hf_hold_valid_for(hold), 0) << "who holds some keeps them";
  EXPECT_TRUE(ok(hf_permits_remove_async(pool, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_EQ(hf_permits_available(lock(), &number), HF_INVALID_ARGUMENT);
}

TEST_F(OtherKinds, SemaphoresCount) {
  Semaphore seats;
  ASSERT_TRUE(ok(hf_semaphore_open(client, "seats", seats.out())));
  EXPECT_EQ(hf_semaphore_acquire(seats, 1, 0, nullptr), HF_NOT_SET);
  int yes = -1;
  std::int64_t number = -1;
  EXPECT_TRUE(ok(hf_semaphore_init(seats, 2, 3'600'000, &yes)));
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(ok(hf_semaphore_init_async(seats, 9, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_TRUE(ok(hf_semaphore_acquire(seats, 2, HF_NO_LIMIT, nullptr)));
  EXPECT_EQ(hf_semaphore_acquire(seats, 1, 0, nullptr), HF_BUSY);
  EXPECT_EQ(hf_semaphore_acquire(seats, 1, 20, nullptr), HF_TIMED_OUT);
  EXPECT_TRUE(ok(hf_semaphore_acquire_async(seats, 1, 0, queue, 1)));
  EXPECT_EQ(next(queue).code, HF_BUSY);
  EXPECT_TRUE(ok(hf_semaphore_acquire_async(seats, 1, HF_NO_LIMIT, queue, 1)));
  EXPECT_EQ(next(queue, 30).code, HF_NOTHING);
  EXPECT_TRUE(ok(hf_semaphore_release(seats, 1, &yes)));
  EXPECT_EQ(yes, 1);
  const Completed granted = next(queue);
  EXPECT_EQ(granted.code, HF_OK) << granted.text;
  EXPECT_EQ(granted.hold.get(), nullptr);
  EXPECT_TRUE(ok(hf_semaphore_release_async(seats, 1, queue, 1)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_semaphore_add(seats, 4, &number)));
  EXPECT_EQ(number, 5);
  EXPECT_TRUE(ok(hf_semaphore_add_async(seats, 1, queue, 1)));
  EXPECT_EQ(next(queue).value, 6);
  EXPECT_TRUE(ok(hf_semaphore_available(seats, &number)));
  EXPECT_EQ(number, 6);
  EXPECT_TRUE(ok(hf_semaphore_available_async(seats, queue, 1)));
  EXPECT_EQ(next(queue).value, 6);
  EXPECT_TRUE(ok(hf_semaphore_drain(seats, &number)));
  EXPECT_EQ(number, 6);
  EXPECT_TRUE(ok(hf_semaphore_drain_async(seats, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_TRUE(ok(hf_semaphore_acquire_async(seats, 1, HF_NO_LIMIT, queue, 1)));
  hf_queue_cancel(queue, 1);
  EXPECT_EQ(next(queue).code, HF_CANCELLED);
  EXPECT_EQ(raw.command("GET", "seats").text, "0");
  EXPECT_TRUE(ok(hf_semaphore_remove(seats, &yes)));
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(ok(hf_semaphore_remove_async(seats, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_EQ(hf_semaphore_acquire(seats, 1, 0, nullptr), HF_NOT_SET);
}

TEST_F(OtherKinds, LatchesOpen) {
  Latch ready;
  ASSERT_TRUE(ok(hf_latch_open(client, "ready", ready.out())));
  EXPECT_TRUE(ok(hf_latch_wait(ready, 0, nullptr))) << "nobody has closed it";
  int yes = -1;
  std::int64_t number = -1;
  EXPECT_TRUE(ok(hf_latch_init(ready, 2, &yes)));
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(ok(hf_latch_init_async(ready, 9, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_EQ(hf_latch_wait(ready, 0, nullptr), HF_BUSY);
  EXPECT_EQ(hf_latch_wait(ready, 20, nullptr), HF_TIMED_OUT);
  EXPECT_TRUE(ok(hf_latch_wait_async(ready, HF_NO_LIMIT, queue, 1)));
  EXPECT_TRUE(ok(hf_latch_count_down(ready, 1, &number)));
  EXPECT_EQ(number, 1);
  EXPECT_TRUE(ok(hf_latch_count(ready, &number)));
  EXPECT_EQ(number, 1);
  EXPECT_TRUE(ok(hf_latch_count_async(ready, queue, 2)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_latch_count_down_async(ready, 1, queue, 2)));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(next(queue).code, HF_OK);
  EXPECT_TRUE(ok(hf_latch_remove(ready, &yes)));
  EXPECT_EQ(yes, 0);
  EXPECT_TRUE(ok(hf_latch_init(ready, 1, nullptr)));
  EXPECT_TRUE(ok(hf_latch_remove_async(ready, queue, 2)));
  EXPECT_EQ(next(queue).value, 1);
}

TEST_F(OtherKinds, AnyOfSeveralSaysWhich) {
  const char* const names[] = {"one", "two"};
  Lock any;
  ASSERT_TRUE(ok(hf_any_open(client, names, 2, nullptr, any.out())));
  const Hold first = held(any);
  const Hold second = held(any);
  EXPECT_STRNE(hf_hold_name(first), hf_hold_name(second));
  int locked = -1;
  EXPECT_EQ(hf_lock_is_locked(any, &locked), HF_INVALID_ARGUMENT);
}

TEST_F(OtherKinds, SeveralAreOfOneKind) {
  const Lock one = lock(HF_LOCK, "one");
  const Lock two = lock(HF_SIMPLE, "two");
  const Lock fair = lock(HF_FAIR, "three");
  Lock all;
  EXPECT_EQ(hf_multi_open(std::vector<hf_lock*>{one, two}.data(), 2, nullptr, all.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_red_open(std::vector<hf_lock*>{fair}.data(), 1, nullptr, all.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_multi_open(nullptr, 1, nullptr, all.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_multi_open(std::vector<hf_lock*>{nullptr}.data(), 1, nullptr, all.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_multi_open(nullptr, 0, nullptr, all.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(all.get(), nullptr);
  Lock several;
  ASSERT_TRUE(ok(hf_multi_open(std::vector<hf_lock*>{two}.data(), 1, nullptr, several.out())));
  EXPECT_STREQ(hf_lock_name(several), "two");
}

}  // namespace
}  // namespace holdfast::test::c::kinds_test
