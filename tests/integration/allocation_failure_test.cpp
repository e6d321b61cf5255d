// The k-th allocation on a path fails, for every k: no end of the process, no lock that nobody owns and everybody waits
// for, no hold whose loss is not told, and a client that goes on working.
#include <atomic>
#include <cstdlib>
#include <new>

#include "faults.hpp"

namespace {

/// How many allocations there are before the one that fails. Below zero: none fails.
std::atomic<long> before_failure{-1};
/// The test's own.
thread_local bool exempt = false;

bool fails() noexcept {
  if (exempt || before_failure.load(std::memory_order_relaxed) < 0) return false;
  return before_failure.fetch_sub(1) == 0;
}

void* allocate(std::size_t size) {
  void* const memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

/// What Asio asks for its handlers' memory.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void* memory = nullptr;
  return fails() || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}

namespace holdfast::test {
namespace {

/// What the test does itself does not count.
struct Exempt {
  Exempt() { exempt = true; }
  ~Exempt() { exempt = false; }
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;
};

class AllocationFailure : public Faults {
 protected:
  static constexpr milliseconds kLease{300};
  static constexpr int kMostOnAPath = 2000;

  AllocationFailure() {
    exempt = true;
    Config settings = Faults::config();
    settings.observer = nullptr;
    settings.lease = kLease;
    settings.patience = 5s;
    start(settings);
  }
  ~AllocationFailure() override {
    before_failure = -1;
    client.reset();
  }

  void start(const Config& settings) {
    client.emplace(settings);
    client->ping();
    for (int i = 0; i < 10; ++i) use("orders");
  }

  void use(const std::string& name) { EXPECT_TRUE(client->lock(name).acquire({.wait = 10s})); }

  /// Runs it as often as it has allocations, and once more. `path` begins and ends exempt.
  template <class Path>
  void fail_everywhere(Path&& path) {
    int k = 0;
    for (bool failed = true; failed; ++k) {
      ASSERT_LT(k, kMostOnAPath);
      SCOPED_TRACE("the allocation that fails: " + std::to_string(k));
      before_failure = k;
      path();
      failed = before_failure.exchange(-1) < 0;
      // What is left behind goes with its lease, or sooner; nobody keeps it.
      ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
      ASSERT_NO_THROW(use("orders"));
      ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_GT(k, 3);
  }

  /// Without being exempt. What it throws is its own affair.
  template <class Call>
  static void try_to(Call&& call) {
    exempt = false;
    try {
      call();
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    exempt = true;
  }

  std::optional<Client> client;
};

TEST_F(AllocationFailure, OnAcquireAndRelease) {
  fail_everywhere([&] {
    try_to([&] {
      Lock lock = client->lock("orders");
      Hold hold = lock.acquire();
      hold.release();
    });
  });
}

TEST_F(AllocationFailure, OnAGuardOfTheThread) {
  Lock lock = client->lock("orders");
  fail_everywhere([&] { try_to([&] { const std::scoped_lock guard(lock); }); });
}

TEST_F(AllocationFailure, OnAPipelinedRelease) {
  Config settings = Faults::config();
  settings.observer = nullptr;
  settings.lease = kLease;
  settings.pipelined_release = true;
  start(settings);
  fail_everywhere([&] { try_to([&] { const Hold hold = client->lock("orders").acquire(); }); });
}

TEST_F(AllocationFailure, OnAContendedAcquire) {
  fail_everywhere([&] {
    raw.command("HSET", "orders", "somebody", 1);
    auto freeing = in_thread([&] {
      const Exempt here;
      Raw other(server);
      eventually([&] { return other.command("PUBSUB", "NUMSUB", channel_of("orders")).elements[1].integer > 0; },
                 100ms);
      other.command("DEL", "orders");
      other.command("PUBLISH", channel_of("orders"), "0");
    });
    try_to([&] { const Hold hold = client->lock("orders").acquire({.wait = 2s}); });
    freeing.wait();
  });
}

TEST_F(AllocationFailure, OnPassingItOnInsideTheClient) {
  fail_everywhere([&] {
    const long k = before_failure.exchange(-1);
    std::optional<Hold> first = client->lock("orders").acquire();
    before_failure = k;
    auto waiting = in_thread([&] {
      const Exempt here;
      try_to([&] { const Hold second = client->lock("orders").acquire({.wait = 2s}); });
      exempt = true;
    });
    std::this_thread::sleep_for(2ms);
    try_to([&] { first.reset(); });
    waiting.wait();
  });
}

TEST_F(AllocationFailure, OnARenewal) {
  Config settings = Faults::config();
  settings.observer = nullptr;
  settings.lease = 1500ms;
  start(settings);
  fail_everywhere([&] {
    const long k = before_failure.exchange(-1);
    Hold hold = client->lock("orders").acquire();
    const std::stop_token lost = hold.lost();
    const std::uint64_t renewals = client->counters().renewals;
    before_failure = k;
    EXPECT_TRUE(eventually([&] { return lost.stop_requested() || client->counters().renewals > renewals; }));
    const long left = before_failure.exchange(-1);
    EXPECT_FALSE(lost.stop_requested()) << "one renewal that fails is no loss";
    EXPECT_EQ(hold.state(), HoldState::held);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    before_failure = left;
  });
}

TEST_F(AllocationFailure, OnALoss) {
  fail_everywhere([&] {
    const long k = before_failure.exchange(-1);
    std::atomic<int> told{0};
    Hold hold = client->lock("orders").acquire({.on_lost = [&](const LostEvent&) { ++told; }});
    std::atomic<bool> stopped{false};
    const std::stop_callback callback(hold.lost(), [&] { stopped = true; });
    before_failure = k;
    raw.command("DEL", "orders");
    EXPECT_TRUE(eventually([&] { return stopped && told == 1; }));
    const long left = before_failure.exchange(-1);
    EXPECT_EQ(hold.state(), HoldState::lost);
    EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
    before_failure = left;
  });
}

}  // namespace
}  // namespace holdfast::test
