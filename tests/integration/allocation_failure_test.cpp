// SPDX-License-Identifier: Apache-2.0
// The k-th allocation on a path fails, for every k: no end of the process, no lock that nobody owns and everybody waits
// for, no hold whose loss is not told, and a client that goes on working.
#include <cstdlib>
#include <filesystem>
#include <new>

#include "starving.hpp"
#include "support/evidence.hpp"
#include "support/held_lock.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::allocations {

std::atomic<long> before_failure{-1};
thread_local bool exempt = false;
std::function<void()> instead;

namespace {

bool fails() noexcept {
  if (exempt || before_failure.load(std::memory_order_relaxed) < 0) return false;
  if (before_failure.fetch_sub(1) != 0) return false;
  if (!instead) return true;
  const Exempt here;
  instead();
  return false;
}

void* allocate(std::size_t size) {
  void* const memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace holdfast::test::allocations

using holdfast::test::allocations::allocate;
using holdfast::test::allocations::fails;

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
/// What algorithms of the standard ask for that can do without, std::stable_sort for one.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

/// What Asio asks for its handlers' memory.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void* memory = nullptr;
  return fails() || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}

#if defined(__SANITIZE_ADDRESS__)
/// Asio does not give back what a context has when it has no memory for its first service.
extern "C" const char* __lsan_default_suppressions() { return "leak:execution_context::execution_context\n"; }
#endif

namespace holdfast::test {

std::string Outcomes::in_words() const {
  const std::scoped_lock guard(mutex_);
  std::string out;
  for (const auto& [what, count] : counts_) out += (out.empty() ? "" : ", ") + what + " " + std::to_string(count);
  return out;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string descriptors_in_words() {
  std::string out;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own
    const std::string what = std::filesystem::read_symlink(each.path(), gone).string();
    out += (out.empty() ? "" : ", ") + each.path().filename().string() + " " + (gone ? gone.message() : what);
  }
  return out;
}

std::string this_path() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->test_suite_name()) + "." + test->name();
}

void record_starvation(std::string_view path, int failed, const Outcomes& outcomes, steady_clock::duration took) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(took).count();
  append_evidence("starvation",
                  R"("seconds":)" + std::to_string(seconds) + R"(,"path":)" + json_text(path) + R"(,"failed":)" +
                      std::to_string(failed) + R"(,"outcomes":)" + json_text(outcomes.in_words()),
                  server_version());
}

namespace {

class AllocationFailure : public Faults, protected Starving {
 protected:
  static constexpr milliseconds kLease{300};

  AllocationFailure() { start(settings()); }
  ~AllocationFailure() override {
    allocations::before_failure = -1;
    client.reset();
  }

  Config settings() const {
    Config settings = Faults::config();
    settings.observer = nullptr;
    settings.lease = kLease;
    settings.timing.patience = 5s;
    return settings;
  }
  void start(const Config& settings) {
    client.emplace(settings);
    client->ping();
    for (int i = 0; i < 10; ++i) use("orders");
  }

  void use(const std::string& name) { EXPECT_TRUE(client->lock(name).acquire({.wait = 10s})); }

  template <class Path>
  void fail_everywhere(Path&& path) {
    fail_each(path, [&] {
      // What is left behind goes with its lease, or sooner; nobody keeps it.
      ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
      ASSERT_NO_THROW(use("orders"));
    });
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
    put_held_lock(raw, "orders");
    const auto freeing = free_once_awaited(server, "orders");
    try_to([&] { const Hold hold = client->lock("orders").acquire({.wait = 2s}); });
    freeing.wait();
  });
}

TEST_F(AllocationFailure, OnPassingItOnInsideTheClient) {
  fail_everywhere([&] {
    std::optional<Hold> first = spared([&] { return client->lock("orders").acquire(); });
    auto waiting = in_thread([&] {
      const Exempt here;
      try_to([&] { const Hold second = client->lock("orders").acquire({.wait = 2s}); });
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
    const long k = allocations::before_failure.exchange(-1);
    Hold hold = client->lock("orders").acquire();
    const std::stop_token lost = hold.lost_token();
    const std::uint64_t renewals = client->counters().renewals;
    allocations::before_failure = k;
    EXPECT_TRUE(eventually([&] { return lost.stop_requested() || client->counters().renewals > renewals; }));
    const long left = allocations::before_failure.exchange(-1);
    EXPECT_FALSE(lost.stop_requested()) << "one renewal that fails is no loss";
    EXPECT_EQ(hold.state(), HoldState::held);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    allocations::before_failure = left;
  });
}

TEST_F(AllocationFailure, OnALoss) {
  fail_everywhere([&] {
    const long k = allocations::before_failure.exchange(-1);
    std::atomic<int> told{0};
    Hold hold = client->lock("orders").acquire({.on_lost = [&](const LostEvent&) { ++told; }});
    std::atomic<bool> stopped{false};
    const std::stop_callback callback(hold.lost_token(), [&] { stopped = true; });
    allocations::before_failure = k;
    raw.command("DEL", "orders");
    EXPECT_TRUE(eventually([&] { return stopped && told == 1; }));
    const long left = allocations::before_failure.exchange(-1);
    EXPECT_EQ(hold.state(), HoldState::lost);
    EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
    allocations::before_failure = left;
  });
}

}  // namespace
}  // namespace holdfast::test
