// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/testing.hpp>

#include "base/clock.hpp"
#include "base/no_signals.hpp"
#include "loop/timer_watch.hpp"
#include "system/system.hpp"
#include "testing/folder.hpp"
#include "testing/model_host.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using base::Clock;
using base::TimePoint;
using test::Keyspace;

constexpr auto kLongestStep = 100ms;  // between two calls of `over`
constexpr auto kShortLease = 600ms;
constexpr auto kLongestWait = 1s;
constexpr auto kOwner = "00000000-0000-0000-0000-000000000000:1";  // somebody else

std::atomic<bool> stands_still{false};
std::atomic<Clock::rep> the_time{0};

/// Times when something in a client may be due, including cancelled ones.
std::mutex ring_times_mutex;
std::set<TimePoint> ring_times;

void note_ring(TimePoint time) noexcept {
  const std::lock_guard lock(ring_times_mutex);
  ring_times.insert(time);
}

/// The next time after `now`; earlier ones are removed.
TimePoint next_ring(TimePoint now) {
  const std::lock_guard lock(ring_times_mutex);
  ring_times.erase(ring_times.begin(), ring_times.upper_bound(now));
  return ring_times.empty() ? TimePoint::max() : *ring_times.begin();
}

TimePoint still_time() noexcept { return TimePoint(base::Duration(the_time.load(std::memory_order_relaxed))); }

/// Replaces the library's clock as long as this lives.
class StillClock {
 public:
  StillClock() {
    if (stands_still.exchange(true)) {
      throw Error(Errc::invalid_argument, {}, {}, "another kit whose time stands still is alive");
    }
    // Whole seconds, so that rounding to milliseconds is the same in each run.
    the_time = std::chrono::ceil<std::chrono::seconds>(Clock::now().time_since_epoch()).count() * 1'000'000'000;
    {
      const std::lock_guard lock(ring_times_mutex);
      ring_times.clear();
    }
    set(&still_time);
    holdfast::detail::set_timer_watch(&note_ring);
  }
  StillClock(const StillClock&) = delete;
  StillClock& operator=(const StillClock&) = delete;
  ~StillClock() {
    holdfast::detail::set_timer_watch(nullptr);
    set(nullptr);
    stands_still = false;
  }
  /// The library's clock, and the copy that this library may have.
  static void set(base::ClockHand hand) noexcept {
    holdfast::detail::set_clock(hand);
    base::set_hand(hand);
  }
  static void move_to(TimePoint time) { the_time = time.time_since_epoch().count(); }
};

}  // namespace

struct TestKit::Inside {
  explicit Inside(Time how) {
    if (how == Time::still) {
      still.emplace();
      return;
    }
    const base::NoSignals inherited;
    thread = std::thread([this] { run(); });
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    over = true;
    bell.ring();
    if (thread.joinable()) thread.join();
  }

  void run() {
    while (!over) {
      std::vector<pollfd> waits;
      TimePoint next;
      {
        const std::lock_guard lock(mutex);
        host.serve();
        waits = host.waits_for();
        next = host.time().next();
      }
      waits.push_back({bell.descriptor(), POLLIN, 0});
      const auto left = next == TimePoint::max() ? std::chrono::milliseconds(kLongestWait)
                                                 : std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
      const auto limit = std::clamp<std::chrono::milliseconds>(left, 0ms, kLongestWait);
      poll(waits.data(), waits.size(), static_cast<int>(limit.count()));
      bell.hush();
    }
  }

  /// On this thread, at once, even if another thread serves.
  template <class Order>
  void order(Order&& what) {
    {
      const std::lock_guard lock(mutex);
      what(host.server());
      if (!still) host.serve();
    }
    bell.ring();
  }

  std::optional<StillClock> still;
  private_server::Folder folder;
  std::mutex mutex;
  ModelHost host{folder.files()};
  TimePoint frozen_until{};
  system::Bell bell;
  std::atomic<bool> over{false};
  std::thread thread;  // last: it uses the others
};

TestKit::TestKit(Time time) : inside_(std::make_unique<Inside>(time)) {}
TestKit::~TestKit() = default;

Config TestKit::config() const {
  Config config;
  config.server = UnixSocket{inside_->folder.files().socket};
  if (!inside_->still) config.lease = kShortLease;
  return config;
}

void TestKit::lose(std::string_view lock) {
  inside_->order([lock](test::ModelServer& server) { server.change([lock](Keyspace& keys) { keys.erase(lock); }); });
}

void TestKit::take_elsewhere(std::string_view lock, std::chrono::milliseconds lease) {
  inside_->order([lock, lease](test::ModelServer& server) {
    server.change([lock, lease](Keyspace& keys) {
      const Keyspace::Value* const before = keys.find(lock);
      const bool text = before != nullptr && before->type == Keyspace::Type::string;
      keys.erase(lock);
      if (text) return keys.set(lock, kOwner, std::to_string(lease.count()));
      keys.set_field(lock, kOwner, "1");
      keys.expire(lock, std::to_string(lease.count()));
    });
  });
}

void TestKit::freeze(std::chrono::milliseconds time) {
  inside_->order([this, time](test::ModelServer& server) {
    server.freeze();
    inside_->frozen_until = std::max(inside_->frozen_until, Clock::now() + time);
    inside_->host.time().at(Clock::now() + time, [this, &server] {
      if (Clock::now() >= inside_->frozen_until) server.thaw();
    });
  });
}

void TestKit::answer_late(std::chrono::milliseconds by) {
  inside_->order([by](test::ModelServer& server) { server.set_latency(by); });
}

void TestKit::cut() {
  inside_->order([](test::ModelServer& server) { server.close_all(); });
}

bool TestKit::is_locked(std::string_view lock) const {
  bool locked = false;
  inside_->order([&](test::ModelServer& server) { locked = server.keyspace_now().find(lock) != nullptr; });
  return locked;
}

bool TestKit::pass(std::chrono::milliseconds time, const std::function<std::size_t()>& turn,
                   const std::function<bool()>& over) {
  if (!inside_->still) {
    throw Error(Errc::invalid_argument, {}, {}, "time passes by itself here: make the kit with Time::still");
  }
  const auto settle = [&] {
    for (bool worked = true; worked;) {
      worked = turn() > 0;
      const std::lock_guard lock(inside_->mutex);
      worked = inside_->host.serve() || worked;
    }
  };
  const TimePoint end = Clock::now() + time;
  settle();
  while (!over || !over()) {
    const TimePoint now = Clock::now();
    if (now >= end) return false;
    TimePoint next = std::min({end, next_ring(now), inside_->host.time().next()});
    if (over) next = std::min(next, now + kLongestStep);
    StillClock::move_to(next);
    settle();
  }
  return true;
}

}  // namespace holdfast
