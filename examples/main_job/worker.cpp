// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <holdfast/holdfast.hpp>

namespace main_job {
namespace {

using namespace std::chrono_literals;

constexpr int kWidth = 20;

void wait_for_end_of_input() {
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

template <class... Values>
void say(const Values&... values) {
  ((std::cout << values), ...) << std::endl;
}

// Read, let somebody else run, write back: without a lock around it, an increment in between is overwritten.
void increment(const Counter& counter) {
  const long value = counter.read();
  sched_yield();
  counter.write(value + 1);
}

int count(const Counter& counter, long times) {
  say("ready");
  wait_for_end_of_input();
  for (long i = 0; i < times; ++i) {
    increment(counter);
  }
  return 0;
}

int count_guarded(const Counter& counter, long times, const std::string& url, const std::string& name) {
  holdfast::Client client{url};
  holdfast::Lock lock = client.lock(name);
  say("ready");
  wait_for_end_of_input();
  for (long i = 0; i < times; ++i) {
    std::scoped_lock guard{lock};
    increment(counter);
  }
  return 0;
}

int hold(const std::string& url, const std::string& name) {
  holdfast::Client client{url};
  holdfast::Hold hold = client.lock(name).acquire({.lease = holdfast::renewed(kLease)});
  say("holding");
  double last_valid_step = now_ms();
  for (;;) {
    const double start = now_ms();
    if (hold.valid_for() == 0ms) {
      say("lost ", hold.lost_token().stop_requested() ? "stopped" : "running", " ", last_valid_step);
      return hold.release() == holdfast::ReleaseOutcome::was_lost ? 0 : 1;
    }
    last_valid_step = start;
    std::this_thread::sleep_for(1ms);
  }
}

int enter(const std::string& url, const std::string& name) {
  holdfast::Client client{url};
  holdfast::Lock lock = client.lock(name);
  client.ping();
  say("waiting");
  holdfast::Hold hold = lock.acquire({.lease = holdfast::renewed(kLease)});
  say("entered ", now_ms(), " ", hold.owner());
  wait_for_end_of_input();
  return hold.release() == holdfast::ReleaseOutcome::released ? 0 : 1;
}

}  // namespace

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Counter::Counter(const std::string& file) : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file);
}

Counter::~Counter() { close(descriptor_); }

long Counter::read() const {
  std::array<char, kWidth + 1> text{};
  return pread(descriptor_, text.data(), kWidth, 0) > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
}

void Counter::write(long value) const {
  std::array<char, kWidth + 1> text{};
  std::snprintf(text.data(), text.size(), "%*ld", kWidth, value);
  if (pwrite(descriptor_, text.data(), kWidth, 0) != kWidth) throw std::system_error(errno, std::generic_category());
}

int run_worker(const std::vector<std::string>& arguments) {
  std::cout.precision(17);
  const std::string& role = arguments.at(0);
  if (role == "count" && arguments.size() == 3) return count(Counter(arguments[1]), std::stol(arguments[2]));
  if (role == "count") {
    return count_guarded(Counter(arguments.at(1)), std::stol(arguments.at(2)), arguments.at(3), arguments.at(4));
  }
  if (role == "hold") return hold(arguments.at(1), arguments.at(2));
  if (role == "enter") return enter(arguments.at(1), arguments.at(2));
  std::cerr << "there is no role " << role << '\n';
  return 2;
}

}  // namespace main_job
