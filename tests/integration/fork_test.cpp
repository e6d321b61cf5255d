// SPDX-License-Identifier: Apache-2.0
// fork(): holds belong to the parent. In the child every call says so, every destructor is harmless, and the parent's
// hold goes on.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.hpp"
#include "support/spawn.hpp"
#include "support/tried.hpp"

namespace holdfast::test::fork_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// How a child ended, and what it said.
struct Child {
  int code = -1;  ///< -1: killed by a signal.
  std::string said;
};

/// Seen in a debugger: the child waits for a lock of the sanitizer's allocator, inside its first malloc.
[[maybe_unused]] constexpr std::string_view kSanitizersHang =
    "g++ 12's sanitizers have locks of their own that a child may find taken for ever";

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// Whether every other thread of this process sleeps.
bool others_sleep() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(thread.path() / "stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") S") != 0) return false;
  }
  return true;
}
#endif

enum class End {
  at_once,   ///< _exit: nothing more is run.
  in_order,  ///< exit: destructors of static objects are run.
};

bool leaves_early = false;

/// Ends a child before a leak checker looks, which would count what the parent's threads own. To be registered before
/// the static objects whose destructors are to run in the child.
void leave_before_leak_check() {
  if (leaves_early) _exit(0);
}

/// Runs a function in a child process; what it returns is what the child said.
template <class Body>
Child in_child(Body body, End end = End::at_once) {
  auto [from, to] = make_pipe();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(eventually(others_sleep)) << kSanitizersHang;
#endif
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);  // one that hangs is to be seen, not waited for
    std::string said;
    try {
      said = body();
    } catch (const std::exception& error) {
      said = std::string("threw ") + error.what();
    }
    const bool written = write(to.get(), said.data(), said.size()) == static_cast<ssize_t>(said.size());
    if (end == End::at_once || !written) _exit(written ? 0 : 1);
    leaves_early = true;
    std::exit(0);
  }
  to.reset();
  Child child;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(from.get(), buffer, sizeof buffer)) > 0;) {
    child.said.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) child.code = WEXITSTATUS(status);
  return child;
}

/// The names of the calls that did not throw Error(forked), with what they did instead.
class Verdict {
 public:
  template <class Call>
  void expect_forked(const std::string& what, Call call) {
    const std::optional<Error> error = error_of(call);
    if (!error) said_ += what + " did not throw; ";
    if (error && error->code() != Errc::forked) said_ += what + " threw " + error->what() + "; ";
  }
  void expect(const std::string& what, bool holds) {
    if (!holds) said_ += what + " is not so; ";
  }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
};

class Fork : public Faults {
 protected:
  Fork() : settings_(config()) { settings_.lease = 900ms; }

  Config settings_;
};

TEST_F(Fork, EveryCallInTheChildSaysForkedAndTheParentsHoldGoesOn) {
  Client client(settings_);
  Hold hold = client.lock("orders").acquire();
  Lock lock = client.lock("thread");
  lock.lock();
  const Child child = in_child([&] {
    Verdict verdict;
    Lock orders = lock;
    verdict.expect_forked("Client::lock", [&] { return client.lock("new"); });
    verdict.expect_forked("ping", [&] { client.ping(); });
    verdict.expect_forked("list", [&] { return client.list(); });
    verdict.expect_forked("acquire", [&] { return orders.acquire(); });
    verdict.expect_forked("try_acquire", [&] { return orders.try_acquire({.wait = 1min}); });
    verdict.expect_forked("lock", [&] { orders.lock(); });
    verdict.expect_forked("try_lock", [&] { return orders.try_lock(); });
    verdict.expect_forked("release", [&] { return orders.this_thread().release(); });
    verdict.expect_forked("is_locked", [&] { return orders.is_locked(); });
    verdict.expect_forked("info", [&] { return orders.info(); });
    verdict.expect_forked("remaining", [&] { return orders.remaining(); });
    verdict.expect_forked("force_release", [&] { return orders.force_release(); });
    std::error_code error;
    const MaybeHold none = tried(orders, {}, error);
    verdict.expect("try_acquire(ec) says forked", !none && error == Errc::forked);
    orders.unlock();
    client.close();
    verdict.expect("is_holding is false", !orders.this_thread().is_holding());
    verdict.expect("the thread's valid_for is zero", orders.this_thread().valid_for() == 0ms);
    verdict.expect("valid_for is zero", hold.valid_for() == 0ms);
    verdict.expect("the state is lost", hold.state() == HoldState::lost);
    verdict.expect("the reason is the fork", hold.loss_reason() == LossReason::forked);
    verdict.expect("release says was_lost", hold.release() == ReleaseOutcome::was_lost);
    verdict.expect("counters can be read", client.counters().granted == 2);
    std::ostringstream metrics;
    client.metrics().write_openmetrics(metrics);
    verdict.expect("no hold is valid", metrics.str().find("lowest_validity_seconds +Inf") != std::string::npos);
    return verdict.said();
  });
  EXPECT_EQ(child.code, 0);
  EXPECT_THAT(child.said, IsEmpty());
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 6; }));
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  EXPECT_TRUE(lock.this_thread().is_holding());
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().connections, 1U);
}

class ForkInACluster : public ClusterTest {
 protected:
  ForkInACluster() : ClusterTest({.replicas = 0}) {}
};

TEST_F(ForkInACluster, EveryCallInTheChildSaysForkedAndTheParentsHoldsGoOn) {
  Config settings = config();
  settings.lease = 3s;  // a loaded machine may stall a fork
  Client client(settings);
  std::vector<Hold> holds;
  for (RedisServer* primary : cluster.primaries()) holds.push_back(client.lock(name_on(*primary)).acquire());
  Lock lock = client.lock("orders");
  const Child child = in_child([&] {
    Verdict verdict;
    verdict.expect_forked("ping", [&] { client.ping(); });
    verdict.expect_forked("list", [&] { return client.list(); });
    verdict.expect_forked("acquire", [&] { return lock.acquire(); });
    verdict.expect_forked("is_locked", [&] { return lock.is_locked(); });
    for (Hold& hold : holds) {
      verdict.expect("valid_for is zero", hold.valid_for() == 0ms);
      verdict.expect("release says was_lost", hold.release() == ReleaseOutcome::was_lost);
    }
    client.close();
    return verdict.said();
  });
  EXPECT_EQ(child.code, 0);
  EXPECT_THAT(child.said, IsEmpty());
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 9; }));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(Fork, DestructorsInTheChildAreHarmlessInAnyOrder) {
  std::optional<Client> client(settings_);
  std::optional<Lock> lock = client->lock("thread");
  lock->lock();
  std::optional<Hold> hold = client->lock("orders").acquire();
  std::optional<Hold> released = client->lock("released").acquire();
  released->release();
  const std::string owner = hold->owner();
  for (int order = 0; order < 4; ++order) {
    const Child child = in_child([&] {
      released.reset();
      if (order % 2 == 0) hold.reset();
      if (order / 2 == 0) lock.reset();
      client.reset();
      hold.reset();
      lock.reset();
      return std::string("done");
    });
    EXPECT_EQ(child.code, 0);
    EXPECT_EQ(child.said, "done");
  }
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(owner));
  const std::uint64_t renewals = client->counters().renewals;
  EXPECT_TRUE(eventually([&] { return client->counters().renewals >= renewals + 4; }));
  EXPECT_EQ(hold->release(), ReleaseOutcome::released);
  EXPECT_EQ(lock->this_thread().release(), UnlockOutcome::released);
}

TEST_F(Fork, AChildThatExitsInOrderIsNotTerminated) {
  std::atexit(leave_before_leak_check);
  static std::optional<Client> client;
  static std::optional<Hold> hold;
  client.emplace(settings_);
  hold = client->lock("orders").acquire();
  for (int i = 0; i < 3; ++i) {
    const Child child = in_child([] { return std::string("done"); }, End::in_order);
    EXPECT_EQ(child.code, 0);
    EXPECT_EQ(child.said, "done");
  }
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold->owner()));
  EXPECT_EQ(hold->release(), ReleaseOutcome::released);
  client.reset();
  hold.reset();
}

TEST_F(Fork, AChildOfAChildIsAChild) {
  Client client(settings_);
  const Hold hold = client.lock("orders").acquire();
  const Child child = in_child([&] {
    const Child grandchild = in_child([&] {
      Verdict verdict;
      verdict.expect_forked("ping", [&] { client.ping(); });
      return verdict.said();
    });
    return "code " + std::to_string(grandchild.code) + grandchild.said;
  });
  EXPECT_EQ(child.said, "code 0");
}

TEST_F(Fork, TheMessageSaysWhatToDo) {
  Client client(settings_);
  Lock lock = client.lock("orders");
  const Child child = in_child([&] { return std::string(error_of([&] { return lock.acquire(); })->what()); });
  EXPECT_THAT(child.said, AllOf(HasSubstr("lock \"orders\" on " + client.node()), HasSubstr("fork"),
                                HasSubstr("make a new one in the child")));
}

TEST_F(Fork, AForkInTheMiddleOfTrafficNeverHangsTheChild) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << kSanitizersHang;
#endif
  Client client(settings_);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i](const std::stop_token& stop) {
      Lock lock = client.lock("orders:" + std::to_string(i % 2));
      while (!stop.stop_requested()) {
        try {
          if (const std::optional<Hold> hold = lock.try_acquire({.wait = 5ms})) static_cast<void>(hold->valid_for());
          std::ignore = lock.try_lock_for(2ms);
        } catch (const Error&) {
          // Busy machines do not always reply in time.
        }
        if (lock.this_thread().hold_count() > 0) lock.unlock();
      }
    });
  }
  Lock lock = client.lock("orders:0");
  for (int i = 0; i < 50; ++i) {
    const Child child = in_child([&] {
      Verdict verdict;
      verdict.expect_forked("acquire", [&] { return lock.acquire(); });
      verdict.expect_forked("lock", [&] { lock.lock(); });
      verdict.expect("is_holding is false", !lock.this_thread().is_holding());
      lock.unlock();
      client.close();
      return verdict.said();
    });
    ASSERT_EQ(child.code, 0);
    ASSERT_THAT(child.said, IsEmpty());
  }
}

/// Client::lock holds the mutex of the table of locks most of the time here, and the child finds it locked.
TEST_F(Fork, AForkInTheMiddleOfMakingHandlesNeverHangsTheirDestructors) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << kSanitizersHang;
#endif
  std::optional<Client> client(settings_);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) static_cast<void>(client->lock("busy"));
    });
  }
  std::optional<Lock> lock = client->lock("orders");
  std::optional<MultiLock> several = client->multi_lock({"orders", "stock"});
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    const Child child = in_child([&] {
      lock.reset();
      several.reset();
      client.reset();
      return std::string("done");
    });
    EXPECT_EQ(child.code, 0);
    EXPECT_EQ(child.said, "done");
  }
}

TEST_F(Fork, AConnectionEndsWithItsClientThoughAChildLives) {
  const auto connections = [&] {
    const std::string all = raw.command("CLIENT", "LIST").text;
    std::size_t count = 0;
    for (std::size_t at = all.find("name=holdfast"); at != all.npos; at = all.find("name=holdfast", at + 1)) ++count;
    return count;
  };
  auto [from, to] = make_pipe();
  std::optional<Client> client(settings_);
  Lock lock = client->lock("orders");
  std::optional<Client> other(settings_);
  std::optional<Hold> hold(other->lock("orders").acquire());  // so that the first client listens for its release
  const MaybeHold none = lock.try_acquire({.wait = 100ms});
  EXPECT_FALSE(none);
  ASSERT_GT(connections(), 0U);
  const pid_t pid = fork();
  if (pid == 0) {
    char byte = 0;
    to.reset();
    static_cast<void>(read(from.get(), &byte, 1));
    _exit(0);
  }
  client.reset();
  hold.reset();
  other.reset();
  EXPECT_TRUE(eventually([&] { return connections() == 0; })) << raw.command("CLIENT", "LIST").text;
  to.reset();
  waitpid(pid, nullptr, 0);
}

#if !defined(__SANITIZE_THREAD__)  // which ends a child that starts a thread
TEST_F(Fork, AChildMakesItsOwnClientAndCompetesWithItsParent) {
  Client client(settings_);
  Hold hold = client.lock("orders").acquire();
  const Child child = in_child([&] {
    Config settings = settings_;
    settings.observer = nullptr;  // its mutex may have been locked by another thread when the process was copied
    Client own(settings);
    if (own.id() == client.id()) return std::string("the same id");
    if (const auto got = own.lock("orders").try_acquire()) return std::string("got the parent's lock");
    Hold other = own.lock("other").acquire();
    return std::string(to_string(other.release()));
  });
  EXPECT_EQ(child.code, 0);
  EXPECT_EQ(child.said, "released");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}
#endif

}  // namespace
}  // namespace holdfast::test::fork_test
