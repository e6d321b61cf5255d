// SPDX-License-Identifier: Apache-2.0
// What holds for all kinds: tickets, queues, stops, leaders, questions, failures, threads, forks and signals.
#include <atomic>
#include <csignal>
#include <fstream>
#include <poll.h>
#include <regex>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "c/c.hpp"
#include "support/held_lock.hpp"
#include "support/paths.hpp"

namespace holdfast::test::c::calls_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Holds : public Calls {};

TEST_F(Holds, KnowWhatTheyAre) {
  const Lock orders = lock();
  const Hold hold = held(orders);
  EXPECT_STREQ(hf_hold_name(hold), "orders");
  EXPECT_STREQ(hf_lock_name(orders), "orders");
  EXPECT_THAT(hf_hold_owner(hold), testing::StartsWith(hf_client_id(client)));
  EXPECT_EQ(hf_hold_token(hold), 0);
  EXPECT_EQ(hf_hold_durable_for(hold), 0) << "nobody has confirmed it";
  EXPECT_THAT(hf_client_node(client), Not(HasSubstr("password")));
}

TEST_F(Holds, AreClearedByTheirAddress) {
  hf_hold* hold = nullptr;
  ASSERT_TRUE(ok(hf_lock_acquire(lock(), nullptr, &hold)));
  hf_hold_clear(&hold);
  EXPECT_EQ(hold, nullptr);
  hf_hold_clear(&hold);
  hf_hold_clear(nullptr);
  EXPECT_TRUE(soon([&] { return !raw.exists("orders"); }));
}

TEST_F(Holds, TravelAsTickets) {
  const Lock orders = lock();
  for (const bool waits : {true, false}) {
    Hold hold = held(orders);
    char* ticket = nullptr;
    ASSERT_TRUE(ok(hf_hold_detach(hold, &ticket)));
    const std::string text = ticket;
    hf_text_free(ticket);
    EXPECT_EQ(hf_hold_valid_for(hold), 0);
    EXPECT_EQ(hf_hold_detach(hold, &ticket), HF_NOT_OWNER);
    const Client other = another_client();
    const Lock theirs = lock_of(other, HF_LOCK, "orders");
    Hold adopted;
    if (waits) {
      ASSERT_TRUE(ok(hf_lock_adopt(theirs, text.c_str(), nullptr, adopted.out())));
    } else {
      ASSERT_TRUE(ok(hf_lock_adopt_async(theirs, text.c_str(), nullptr, queue, 1)));
      adopted = std::move(next(queue).hold);
    }
    EXPECT_GT(hf_hold_valid_for(adopted), 0);
    int outcome = -1;
    EXPECT_TRUE(ok(hf_hold_release(adopted, &outcome)));
    EXPECT_EQ(outcome, HF_RELEASED);
    EXPECT_EQ(hf_lock_adopt(theirs, text.c_str(), nullptr, adopted.out()), HF_LOST);
  }
  Hold none;
  EXPECT_EQ(hf_lock_adopt(orders, "hf1.nothing", nullptr, none.out()), HF_INVALID_ARGUMENT);
  const hf_options once = waiting(0);
  EXPECT_EQ(hf_lock_adopt(orders, "hf1.nothing", &once, none.out()), HF_INVALID_ARGUMENT);
}

TEST_F(Holds, OfAFixedLeaseAreExtendedAndLeft) {
  const Lock orders = lock();
  hf_options brief = options();
  brief.lease = HF_LEASE_FIXED;
  brief.lease_ms = 60'000;
  Hold hold;
  ASSERT_TRUE(ok(hf_lock_acquire(orders, &brief, hold.out())));
  EXPECT_TRUE(ok(hf_hold_extend(hold, 600'000)));
  EXPECT_GT(hf_hold_valid_for(hold), 60'000);
  EXPECT_TRUE(ok(hf_hold_extend_async(hold, 1'200'000, queue, 1)));
  EXPECT_EQ(next(queue).code, HF_OK);
  EXPECT_GT(hf_hold_valid_for(hold), 600'000);
  int outcome = -1;
  EXPECT_TRUE(ok(hf_hold_leave(hold, 90'000, &outcome)));
  EXPECT_EQ(outcome, HF_LEFT);
  EXPECT_GT(raw.pttl("orders"), 0);
  EXPECT_EQ(hf_hold_extend(hold, 1000), HF_NOT_OWNER);
  int freed = -1;
  EXPECT_TRUE(ok(hf_lock_force_release(orders, nullptr, &freed)));
  EXPECT_EQ(freed, 1);
}

TEST_F(Holds, ThatAreChangedByManyThreadsEndOnce) {
  const Lock orders = lock();
  for (int round = 0; round < 50; ++round) {
    Hold hold = held(orders);
    std::atomic<int> released{0};
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (int look = 0; look < 20; ++look) {
            hf_hold_valid_for(hold);
            hf_hold_state(hold);
          }
          int outcome = -1;
          EXPECT_TRUE(ok(hf_hold_release(hold, &outcome)));
          released += outcome == HF_RELEASED ? 1 : 0;
        });
      }
    }
    EXPECT_EQ(released, 3) << "all see the same outcome";
    EXPECT_FALSE(raw.exists("orders"));
  }
}

class Queues : public Calls {};

TEST_F(Queues, HaveADescriptorThatIsReadableWhileThereIsSomething) {
  const auto readable = [&](int timeout) {
    pollfd event{hf_queue_fd(queue), POLLIN, 0};
    return poll(&event, 1, timeout) == 1;
  };
  EXPECT_FALSE(readable(0));
  EXPECT_TRUE(ok(hf_client_ping_async(client, queue, 1)));
  EXPECT_TRUE(ok(hf_client_ping_async(client, queue, 2)));
  ASSERT_TRUE(readable(static_cast<int>(kPatience)));
  std::set<std::uint64_t> tags{next(queue).tag, next(queue).tag};
  EXPECT_EQ(tags, (std::set<std::uint64_t>{1, 2}));
  EXPECT_FALSE(readable(0));
  EXPECT_EQ(next(queue, 0).code, HF_NOTHING);
}

TEST_F(Queues, RefuseATagThatIsUnderWay) {
  put_held_lock(raw, "orders");
  const Lock orders = lock();
  EXPECT_TRUE(ok(hf_lock_acquire_async(orders, nullptr, queue, 1)));
  EXPECT_EQ(hf_client_ping_async(client, queue, 1), HF_INVALID_ARGUMENT);
  EXPECT_THAT(hf_last_error()->text, HasSubstr("tag"));
  hf_queue_cancel(queue, 99);
  hf_queue_cancel(queue, 1);
  EXPECT_EQ(next(queue).code, HF_CANCELLED);
}

TEST_F(Queues, ThatEndGiveBackWhatNobodyFetched) {
  const Lock orders = lock();
  {
    Queue own;
    ASSERT_TRUE(ok(hf_queue_new(own.out())));
    ASSERT_TRUE(ok(hf_lock_acquire_async(orders, nullptr, own, 1)));
    EXPECT_TRUE(soon([&] { return raw.exists("orders"); }));
  }
  EXPECT_TRUE(soon([&] { return !raw.exists("orders"); }));
}

TEST_F(Queues, ThatEndGiveBackPermitsThatNobodyFetched) {
  Semaphore seats;
  ASSERT_TRUE(ok(hf_semaphore_open(client, "seats", seats.out())));
  ASSERT_TRUE(ok(hf_semaphore_init(seats, 3, HF_UNSET, nullptr)));
  Queue own;
  ASSERT_TRUE(ok(hf_queue_new(own.out())));
  ASSERT_TRUE(ok(hf_semaphore_acquire_async(seats, 2, HF_NO_LIMIT, own, 1)));
  EXPECT_TRUE(soon([&] { return raw.command("GET", "seats").text == "1"; }));
  own.free();
  EXPECT_TRUE(soon([&] { return raw.command("GET", "seats").text == "3"; }));
}

TEST_F(Queues, ThatEndEndTheirCalls) {
  put_held_lock(raw, "orders");
  Queue own;
  ASSERT_TRUE(ok(hf_queue_new(own.out())));
  ASSERT_TRUE(ok(hf_lock_acquire_async(lock(), nullptr, own, 1)));
  EXPECT_EQ(next(own, 30).code, HF_NOTHING);
  own.free();
  EXPECT_TRUE(soon([&] {
    char* text = nullptr;
    EXPECT_TRUE(ok(hf_client_metrics(client, HF_PROMETHEUS, &text)));
    const std::string metrics = text;
    hf_text_free(text);
    return metrics.find("holdfast_acquire_wait_seconds_count{result=\"cancelled\"} 1") != metrics.npos;
  }));
}

/// Wherever it has got to: in thousands of rounds it is cancelled, fetched, and freed at all moments.
TEST_F(Queues, CancelAtAnyMomentLeavesNothing) {
  const Lock orders = lock();
  const Client other = another_client();
  const Lock theirs = lock_of(other, HF_LOCK, "orders");
  for (int round = 0; round < 500; ++round) {
    ASSERT_TRUE(ok(hf_lock_acquire_async(round % 2 == 0 ? orders : theirs, nullptr, queue, 1)));
    std::this_thread::sleep_for(std::chrono::microseconds(round % 50 * 5));
    hf_queue_cancel(queue, 1);
    const Completed ended = next(queue);
    EXPECT_EQ(ended.hold.get() != nullptr, ended.code == HF_OK);
    if (ended.code != HF_OK) {
      EXPECT_EQ(ended.code, HF_CANCELLED) << ended.text;
    }
  }
  EXPECT_TRUE(soon([&] { return !raw.exists("orders"); }));
}

TEST_F(Queues, AWaitIsInterruptedByASignal) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;  // as many languages have it
  sigaction(SIGUSR1, &action, &before);
  const pthread_t self = pthread_self();
  std::atomic<bool> over{false};
  std::jthread other([&] {
    while (!over) {
      pthread_kill(self, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_EQ(next(queue).code, HF_INTERRUPTED);
  over = true;
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

class Stops : public Calls {};

TEST_F(Stops, EndAWaitOnAnotherThread) {
  put_held_lock(raw, "orders");
  raw.command("SET", "seats", 0);
  const Lock orders = lock();
  Semaphore seats;
  Latch ready;
  ASSERT_TRUE(ok(hf_semaphore_open(client, "seats", seats.out())));
  ASSERT_TRUE(ok(hf_latch_open(client, "ready", ready.out())));
  ASSERT_TRUE(ok(hf_latch_init(ready, 1, nullptr)));
  const std::vector<std::function<int(hf_stop*)>> waits{
      [&](hf_stop* stop) {
        hf_options until = options();
        until.stop = stop;
        Hold hold;
        return hf_lock_acquire(orders, &until, hold.out());
      },
      [&](hf_stop* stop) { return hf_semaphore_acquire(seats, 1, HF_NO_LIMIT, stop); },
      [&](hf_stop* stop) { return hf_latch_wait(ready, HF_NO_LIMIT, stop); }};
  for (const auto& wait : waits) {
    Stop stop;
    ASSERT_TRUE(ok(hf_stop_new(stop.out())));
    int code = -1;
    std::jthread waiter([&] { code = wait(stop); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    hf_stop_request(stop);
    waiter.join();
    EXPECT_EQ(code, HF_CANCELLED);
    EXPECT_EQ(wait(stop), HF_CANCELLED) << "later ones too";
  }
}

class Leaders : public Calls {
 protected:
  Leaders() { EXPECT_TRUE(ok(hf_leader_open(lock(HF_FENCED, "leader"), leader.out()))); }
  Leader leader;
};

struct Seen {
  std::vector<std::int64_t> tokens{};
  std::function<void(const hf_term*)> then{};
};

void body(const hf_term* term, void* data) {
  Seen& seen = *static_cast<Seen*>(data);
  seen.tokens.push_back(hf_term_token(term));
  EXPECT_EQ(hf_term_leads(term), 1);
  EXPECT_GT(hf_term_valid_for(term), 0);
  if (seen.then) seen.then(term);
}

TEST_F(Leaders, LeadWhileTheBodyRuns) {
  Seen seen{.then = [&](const hf_term*) { EXPECT_EQ(hf_leader_leads(leader), 1); }};
  int end = -1;
  EXPECT_TRUE(ok(hf_leader_lead(leader, nullptr, body, &seen, &end)));
  EXPECT_EQ(end, HF_FINISHED);
  EXPECT_EQ(hf_leader_leads(leader), 0);
  EXPECT_FALSE(raw.exists("leader"));
  seen.then = [&](const hf_term* term) {
    hf_leader_step_down(leader);
    EXPECT_EQ(hf_term_leads(term), 0);
  };
  EXPECT_TRUE(ok(hf_leader_lead(leader, nullptr, body, &seen, &end)));
  EXPECT_EQ(end, HF_STEPPED_DOWN);
  seen.then = [&](const hf_term* term) {
    raw.command("DEL", "leader");
    EXPECT_TRUE(soon([&] { return hf_term_leads(term) == 0; }));
  };
  EXPECT_TRUE(ok(hf_leader_lead(leader, nullptr, body, &seen, &end)));
  EXPECT_EQ(end, HF_TERM_LOST);
  EXPECT_EQ(seen.tokens, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(Leaders, CampaignUntilTheyAreStopped) {
  Stop stop;
  ASSERT_TRUE(ok(hf_stop_new(stop.out())));
  Seen seen;
  seen.then = [&](const hf_term*) {
    if (seen.tokens.size() == 3) hf_stop_request(stop);
  };
  EXPECT_TRUE(ok(hf_leader_campaign(leader, stop, 1, body, nullptr, &seen)));
  EXPECT_EQ(seen.tokens, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST_F(Leaders, ToldOfTroubleThatPasses) {
  Client nowhere;
  ASSERT_TRUE(ok(hf_client_open("redis://127.0.0.1:1", nowhere.out())));
  Leader lonely;
  ASSERT_TRUE(ok(hf_leader_open(lock_of(nowhere, HF_FENCED, "leader"), lonely.out())));
  Stop stop;
  ASSERT_TRUE(ok(hf_stop_new(stop.out())));
  const auto trouble = [](const hf_error* error, void* data) {
    EXPECT_EQ(error->code, HF_UNREACHABLE);
    EXPECT_EQ(error->may_pass, 1);
    hf_stop_request(static_cast<hf_stop*>(data));
  };
  const auto never = [](const hf_term*, void*) { ADD_FAILURE() << "it does not lead"; };
  EXPECT_TRUE(ok(hf_leader_campaign(lonely, stop, 1000, never, trouble, stop.get())));
}

class Questions : public Calls {};

TEST_F(Questions, AreAnsweredAtOnceAndInAQueue) {
  const Lock orders = lock();
  const Hold hold = held(orders);
  int yes = -1;
  std::int64_t left = -1;
  EXPECT_TRUE(ok(hf_lock_is_locked(orders, &yes)));
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(ok(hf_lock_is_held_by(orders, hf_hold_owner(hold), &yes)));
  EXPECT_EQ(yes, 1);
  EXPECT_TRUE(ok(hf_lock_is_held_by(orders, "somebody:1", &yes)));
  EXPECT_EQ(yes, 0);
  EXPECT_TRUE(ok(hf_lock_remaining(orders, &left)));
  EXPECT_GT(left, 0);
  EXPECT_TRUE(ok(hf_lock_is_locked_async(orders, queue, 1)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_lock_is_held_by_async(orders, hf_hold_owner(hold), queue, 1)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_lock_remaining_async(orders, queue, 1)));
  EXPECT_GT(next(queue).value, 0);
  EXPECT_TRUE(ok(hf_lock_force_release_async(orders, "somebody:1", queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_TRUE(ok(hf_lock_force_release_async(orders, nullptr, queue, 1)));
  EXPECT_EQ(next(queue).value, 1);
  EXPECT_TRUE(ok(hf_lock_remaining(orders, &left)));
  EXPECT_EQ(left, HF_UNSET);
  EXPECT_TRUE(ok(hf_client_ping(client)));
}

TEST_F(Questions, GiveJson) {
  const Lock orders = lock();
  const Hold hold = held(orders);
  const auto text_of = [](const std::function<int(char**)>& call) {
    char* text = nullptr;
    EXPECT_TRUE(ok(call(&text)));
    std::string copy = text != nullptr ? text : "";
    hf_text_free(text);
    return copy;
  };
  const std::string owner = "\"owner\":\"" + std::string(hf_hold_owner(hold));
  EXPECT_THAT(text_of([&](char** out) { return hf_lock_info(orders, out); }), HasSubstr(owner));
  EXPECT_TRUE(ok(hf_lock_info_async(orders, queue, 1)));
  EXPECT_THAT(next(queue).json, HasSubstr(owner));
  EXPECT_THAT(text_of([&](char** out) { return hf_client_list(client, "*", HF_LIST_LOCKS, out); }), HasSubstr(owner));
  EXPECT_THAT(text_of([&](char** out) { return hf_client_list(client, "*", HF_LIST_ANY, out); }),
              AllOf(HasSubstr(owner), HasSubstr("\"kind\":\"lock\"")));
  EXPECT_TRUE(ok(hf_client_list_async(client, "nothing*", HF_LIST_LOCKS, queue, 1)));
  EXPECT_EQ(next(queue).json, "[]\n");
  EXPECT_THAT(text_of([&](char** out) { return hf_client_probe(client, "orders", out); }), HasSubstr("\"worst\":"));
  EXPECT_THAT(text_of([&](char** out) { return hf_client_metrics(client, HF_OPENMETRICS, out); }), HasSubstr("# EOF"));
  EXPECT_THAT(text_of([&](char** out) { return hf_client_metrics(client, HF_PROMETHEUS, out); }),
              Not(HasSubstr("# EOF")));
  char* none = nullptr;
  EXPECT_EQ(hf_client_metrics(client, 9, &none), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_client_list(client, "*", 9, &none), HF_INVALID_ARGUMENT);
}

TEST_F(Questions, AllCanBeReleasedAtOnce) {
  const Lock orders = lock();
  const Hold one = held(orders);
  std::size_t left = 9;
  EXPECT_TRUE(ok(hf_client_release_all(client, kPatience, &left)));
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(hf_hold_loss_reason(one), HF_LOSS_CLOSED);
  const Hold two = held(orders);
  EXPECT_TRUE(ok(hf_client_release_all_async(client, kPatience, queue, 1)));
  EXPECT_EQ(next(queue).value, 0);
  EXPECT_FALSE(raw.exists("orders"));
}

class Failures : public Calls {};

TEST_F(Failures, HaveDetails) {
  raw.command("SET", "text", "words");
  const Lock text = lock(HF_LOCK, "text");
  Hold hold;
  EXPECT_EQ(hf_lock_acquire(text, nullptr, hold.out()), HF_WRONG_TYPE);
  const hf_error* error = hf_last_error();
  EXPECT_EQ(error->code, HF_WRONG_TYPE);
  EXPECT_STREQ(error->key, "text");
  EXPECT_STRNE(error->node, "");
  EXPECT_STRNE(error->cause, "");
  EXPECT_EQ(error->may_pass, 0);
  std::thread([] { EXPECT_EQ(hf_last_error()->code, HF_OK) << "of another thread"; }).join();
  EXPECT_STREQ(hf_code_name(HF_WRONG_TYPE), "wrong_type");
  EXPECT_STREQ(hf_code_name(HF_NOTHING), "nothing");
  EXPECT_STREQ(hf_code_name(HF_INTERRUPTED), "interrupted");
  EXPECT_STREQ(hf_code_name(-3), "?");
  EXPECT_STREQ(hf_version(), "0.2.0");
}

TEST_F(Failures, NameWhatIsWrong) {
  Client none;
  EXPECT_EQ(hf_client_open("redis://user:s3cret@host:notaport", none.out()), HF_INVALID_ARGUMENT);
  EXPECT_THAT(hf_last_error()->text, Not(HasSubstr("s3cret")));
  EXPECT_EQ(hf_client_open(nullptr, none.out()), HF_INVALID_ARGUMENT);
  EXPECT_THAT(hf_last_error()->text, HasSubstr("url is NULL"));
  EXPECT_EQ(hf_client_open("local:", none.out()), HF_INVALID_ARGUMENT) << "it has no test server";
  Lock lock;
  EXPECT_EQ(hf_lock_open(client, 99, "orders", nullptr, lock.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_lock_open(client, HF_LOCK, "", nullptr, lock.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_lock_open(client, HF_LOCK, nullptr, nullptr, lock.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_lock_open(nullptr, HF_LOCK, "orders", nullptr, lock.out()), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_lock_open(client, HF_LOCK, "orders", nullptr, nullptr), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_lock_acquire(nullptr, nullptr, nullptr), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_queue_next(nullptr, 0, nullptr), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_client_ping_async(client, nullptr, 1), HF_INVALID_ARGUMENT);
  EXPECT_EQ(hf_hold_release(nullptr, nullptr), HF_INVALID_ARGUMENT);
}

TEST_F(Failures, NameTheOption) {
  const std::vector<std::pair<const char*, std::function<void(hf_options&)>>> wrong{
      {"size", [](hf_options& o) { o.size = 0; }},
      {"wait_ms", [](hf_options& o) { o.wait_ms = -5; }},
      {"lease_ms", [](hf_options& o) { o.lease_ms = -5; }},
      {"lease_ms", [](hf_options& o) { o.lease = HF_LEASE_FIXED; }},
      {"lease", [](hf_options& o) { o.lease = 17; }},
      {"max_hold_ms", [](hf_options& o) { o.max_hold_ms = -5; }},
      {"max_waiters", [](hf_options& o) { o.max_waiters = -5; }},
      {"acks", [](hf_options& o) { o.acks = 256; }},
      {"permits", [](hf_options& o) { o.permits = 2; }},
  };
  for (const auto& [name, spoil] : wrong) {
    hf_options spoilt = options();
    spoil(spoilt);
    Lock lock;
    EXPECT_EQ(hf_lock_open(client, HF_LOCK, "orders", &spoilt, lock.out()), HF_INVALID_ARGUMENT) << name;
    EXPECT_THAT(hf_last_error()->text, HasSubstr(name));
  }
  hf_options permits = options();
  permits.permits = 2;
  Hold hold;
  EXPECT_EQ(hf_lock_acquire(lock(), &permits, hold.out()), HF_INVALID_ARGUMENT) << "is for handles";
  Stop stop;
  ASSERT_TRUE(ok(hf_stop_new(stop.out())));
  hf_options stopped = options();
  stopped.stop = stop;
  Lock lock;
  EXPECT_EQ(hf_lock_open(client, HF_LOCK, "orders", &stopped, lock.out()), HF_INVALID_ARGUMENT);
}

/// A program that was compiled with a header in which the last member was not there yet.
TEST_F(Failures, AnOlderProgramIsUnderstood) {
  hf_options older = waiting(0);
  older.size = offsetof(hf_options, stop);
  older.stop = reinterpret_cast<hf_stop*>(0x1);  // is not read
  put_held_lock(raw, "orders");
  Hold hold;
  EXPECT_EQ(hf_lock_acquire(lock(), &older, hold.out()), HF_BUSY);
}

TEST_F(Failures, AfterTheClientIsClosed) {
  const Lock orders = lock();
  Hold hold = held(orders);
  put_held_lock(raw, "other");
  EXPECT_TRUE(ok(hf_lock_acquire_async(lock(HF_LOCK, "other"), nullptr, queue, 1)));
  hf_client_close(client);
  EXPECT_EQ(next(queue).code, HF_CLOSED);
  EXPECT_FALSE(raw.exists("orders")) << "closing gives back";
  EXPECT_EQ(hf_hold_loss_reason(hold), HF_LOSS_CLOSED);
  EXPECT_EQ(hf_client_ping(client), HF_CLOSED);
  client.free();
  Hold none;
  EXPECT_EQ(hf_lock_acquire(orders, nullptr, none.out()), HF_CLOSED);
  EXPECT_TRUE(ok(hf_lock_acquire_async(orders, nullptr, queue, 1)));
  EXPECT_EQ(next(queue).code, HF_CLOSED);
}

TEST_F(Failures, AChildHasNothing) {
  const Lock orders = lock();
  Hold hold = held(orders);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Hold none;
    const bool right = hf_lock_acquire(orders, nullptr, none.out()) == HF_FORKED &&
                       hf_lock_acquire_async(orders, nullptr, queue, 1) == HF_FORKED &&
                       hf_hold_check(hold) == HF_FORKED && hf_hold_valid_for(hold) == 0 &&
                       hf_hold_loss_reason(hold) == HF_LOSS_FORKED && hf_hold_release(hold, nullptr) == HF_FORKED &&
                       hf_queue_next(queue, 0, nullptr) != HF_OK && hf_client_ping(client) == HF_FORKED;
    hold.free();
    queue.free();
    client.free();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(hf_hold_check(hold), HF_OK) << "the parent keeps it";
  EXPECT_TRUE(raw.exists("orders"));
}

/// So that a new call cannot come without a test.
TEST(Header, EachCallIsTested) {
  const auto read = [](const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(source_path(path)).rdbuf();
    return out.str();
  };
  const std::string header = read("include/holdfast.h");
  const std::string tests = read("tests/c/kinds_test.cpp") + read("tests/c/calls_test.cpp") + read("tests/c/c.hpp");
  const std::regex call(R"(HF_API [^(]*?(hf_\w+)\()");
  int calls = 0;
  for (auto at = std::sregex_iterator(header.begin(), header.end(), call); at != std::sregex_iterator();
       ++at, ++calls) {
    EXPECT_THAT(tests, HasSubstr((*at)[1].str())) << "is not called by a test";
  }
  EXPECT_GT(calls, 80);
}

}  // namespace
}  // namespace holdfast::test::c::calls_test
