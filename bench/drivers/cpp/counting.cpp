// What it costs to measure an acquire and its release: every addition that the engine makes for the two, with nothing
// around them. Prints nanoseconds for a pair: the median of the rounds, and the best. Needs no server.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "engine/runtime/meter.hpp"

namespace {

using holdfast::base::Clock;
using holdfast::base::Duration;
using holdfast::engine::LockClass;
using holdfast::engine::Meter;
using holdfast::redis::Operation;

constexpr int kRounds = 21;
constexpr int kPairs = 1'000'000;

/// As in AcquireOp::finish, Claim::begin_release and, once for each command, Pipeline::on_done.
void measure_pair(Meter& meter, LockClass its_class, Duration waited) {
  meter.on_command(Operation::acquire, waited);
  meter.on_acquire(its_class, Meter::Result::granted, waited);
  meter.on_command(Operation::release, waited);
  meter.on_hold_end(its_class, waited);
}

template <class Pair>
void report(const char* what, int threads, Pair pair) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> each(static_cast<std::size_t>(threads));
    {
      std::vector<std::jthread> workers;
      for (double& own : each) {
        workers.emplace_back([&own, &pair] {
          const auto begun = std::chrono::steady_clock::now();
          for (int i = 0; i < kPairs; ++i) pair(i);
          const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
          own = took.count() / kPairs;
        });
      }
    }
    rounds.push_back(*std::ranges::max_element(each));
  }
  std::ranges::sort(rounds);
  fmt::print("{:44} {:6.1f} ns, at best {:5.1f}\n", what, rounds[rounds.size() / 2], rounds.front());
}

}  // namespace

int main() {
  const auto waited = [](int i) { return Duration(50'000 + i % 1000); };
  Meter plain(nullptr);
  report("a pair, without classes", 1, [&](int i) { measure_pair(plain, 0, waited(i)); });
  report("the same in two threads", 2, [&](int i) { measure_pair(plain, 0, waited(i)); });
  Meter classes(holdfast::lock_class);
  const LockClass orders = classes.class_of("order:4711");
  report("a pair of a handle with a class", 1, [&](int i) { measure_pair(classes, orders, waited(i)); });
  report("the class of a new handle", 1, [&](int) { classes.class_of("order:4711"); });
  report("for comparison: a look at the clock", 1, [](int) { Clock::now(); });
}
