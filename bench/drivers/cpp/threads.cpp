// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <atomic>
#include <exception>
#include <latch>
#include <map>
#include <thread>

namespace bench {
namespace {

/// Runs a body for each caller on a thread of its own; all begin together at `start`.
template <class Body>
void run_callers(std::size_t count, Clock::time_point start, Body body) {
  std::latch ready(static_cast<std::ptrdiff_t>(count));
  std::vector<std::exception_ptr> thrown(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ready.arrive_and_wait();
      std::this_thread::sleep_until(start);
      try {
        body(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

using LockerPtr = std::unique_ptr<Locker>;

class Threads final : public Face {
 public:
  explicit Threads(Contestant& contestant) : contestant_(contestant) {}
  bool waits() const override { return contestant_.waits(); }
  bool renews() const override { return contestant_.renews(); }
  bool has(const std::string& kind) const override { return contestant_.has(kind); }

  std::function<void(Span)> pairs(Callers& callers, std::chrono::microseconds pause) override {
    return [&callers, pause, lockers = lockers_of(callers)](Span span) {
      run_callers(callers.size(), span.start, [&](std::size_t index) {
        Locker& locker = *(*lockers)[index];
        Caller& caller = callers[index];
        for (Clock::time_point begun = Clock::now(); begun < span.end;) {
          locker.take();
          locker.release();
          const Clock::time_point done = Clock::now();
          caller.add(done - begun);
          begun = done;
          if (pause.count() > 0) {
            std::this_thread::sleep_for(pause);
            begun = Clock::now();
          }
        }
      });
    };
  }

  std::function<void(Span)> hot(Callers& callers, std::chrono::microseconds inside) override {
    return [&callers, inside, lockers = lockers_of(callers)](Span span) {
      run_callers(callers.size(), span.start, [&](std::size_t index) {
        Locker& locker = *(*lockers)[index];
        Caller& caller = callers[index];
        for (Clock::time_point begun = Clock::now(); begun < span.end; begun = Clock::now()) {
          const bool taken = locker.take_until(span.end);
          const Clock::time_point entered = Clock::now();
          caller.add(entered - begun);
          if (!taken) continue;
          caller.enter(begun, entered);
          while (inside.count() > 0 && Clock::now() < entered + inside) {
          }
          locker.release();
        }
      });
    };
  }

  Taken take(const Thing& thing, Clock::time_point until) override {
    LockerPtr& locker = taken_[thing.key];
    if (!locker) locker = contestant_.locker(0, thing);
    const bool taken = locker->take_until(until);
    return {taken, Clock::now()};
  }
  Span release(const std::string& key) override {
    Locker& locker = *taken_.at(key);
    const Clock::time_point before = Clock::now();
    locker.release();
    return {before, Clock::now()};
  }

  std::function<void()> hold(long count, const std::string& keys) override {
    contestant_.reserve(static_cast<std::size_t>(count));
    return [this, count, keys] {
      std::atomic<long> next{0};
      run_callers(static_cast<std::size_t>(std::min<long>(64, count)), Clock::now(), [&](std::size_t caller) {
        for (long i = next++; i < count; i = next++) {
          contestant_.hold(static_cast<int>(caller), static_cast<std::size_t>(i), numbered(keys, i));
        }
      });
    };
  }

  void take_all(long locks, const std::string& keys) override {
    held_.clear();
    for (long i = 0; i < locks; ++i) {
      held_.push_back(contestant_.locker(0, {numbered(keys, i)}));
      held_.back()->take();
    }
  }
  void gather(long waiters, long locks, const std::string& keys) override {
    std::atomic<long> begun{0};
    for (long i = 0; i < waiters; ++i) {
      crowd_.emplace_back([this, i, &begun, name = numbered(keys, i % locks)] {
        const LockerPtr locker = contestant_.locker(static_cast<int>(i), {name});
        ++begun;
        locker->take();
        locker->release();
      });
    }
    while (begun < waiters) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void let_in() override {
    for (const LockerPtr& locker : held_) locker->release();
    for (std::thread& thread : crowd_) thread.join();
    crowd_.clear();
    held_.clear();
  }

 private:
  std::shared_ptr<std::vector<LockerPtr>> lockers_of(const Callers& callers) {
    auto lockers = std::make_shared<std::vector<LockerPtr>>();
    for (const Caller& each : callers) {
      lockers->push_back(contestant_.locker(static_cast<int>(lockers->size()), each.thing));
    }
    return lockers;
  }

  Contestant& contestant_;
  std::map<std::string, LockerPtr> taken_;
  std::vector<LockerPtr> held_;
  std::vector<std::thread> crowd_;
};

}  // namespace

std::unique_ptr<Face> on_threads(Contestant& contestant) { return std::make_unique<Threads>(contestant); }

}  // namespace bench
