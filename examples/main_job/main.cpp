// SPDX-License-Identifier: Apache-2.0
// The main job of ./quickstart: shows, with real processes on a private server, what the lock is good for: updates are
// lost without it and none under it; a killed holder is followed by the next one; a frozen holder is told.
// Exit status 0 only if every claim held. With arguments it is one of its own worker processes (worker.hpp).
#include <cstdio>
#include <exception>
#include <signal.h>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

#include "support/process.hpp"
#include "worker.hpp"

namespace main_job {
namespace {

using namespace std::chrono_literals;
using support::Process;
using support::start_worker;
using support::TempFolder;

constexpr int kProcesses = 4;
constexpr long kTimes = 1000;

struct Claim {
  std::string text;
  bool held = false;
  std::string result;
};

template <class... Values>
std::string text(const char* format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

void progress(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

struct Place {
  const std::filesystem::path& folder;
  std::string url;
  holdfast::Client& client;
};

struct Count {
  long expected = 0;
  long counted = 0;
  double seconds = 0;
  long lost() const { return expected - counted; }
};

// Lets several processes, started at the same moment, count on one file. `guard`: what follows FILE TIMES in their
// role.
Count count_together(const Place& place, long times, const std::vector<std::string>& guard) {
  const std::string file = place.folder / "counter";
  Counter counter(file);
  counter.write(0);
  std::vector<Process> workers;
  for (int i = 0; i < kProcesses; ++i) {
    std::vector<std::string> role{"count", file, std::to_string(times)};
    role.insert(role.end(), guard.begin(), guard.end());
    workers.push_back(start_worker(role));
  }
  for (Process& worker : workers) {
    worker.read_line();
  }
  const double start = now_ms();
  for (Process& worker : workers) {
    worker.close_input();
  }
  for (Process& worker : workers) {
    if (!worker.wait()) throw std::runtime_error("a counting process failed");
  }
  return {kProcesses * times, counter.read(), (now_ms() - start) / 1000};
}

Claim unprotected_updates_are_lost(const Place& place) {
  progress(text("[1/4] %d processes add 1 to a counter file, %ld times each, without the lock", kProcesses, kTimes));
  Count count;
  long times = kTimes;
  for (int round = 0; round < 5 && count.lost() == 0; ++round, times *= 4) {
    if (round > 0) progress(text("      no update was lost this time; once more with %ld times each", times));
    count = count_together(place, times, {});
  }
  progress(text("      the file says %ld instead of %ld", count.counted, count.expected));
  return {"Without the lock, updates are lost", count.lost() > 0,
          text("%ld of %ld lost", count.lost(), count.expected)};
}

Claim guarded_updates_are_kept(const Place& place) {
  progress("[2/4] The same under the lock");
  const Count count = count_together(place, kTimes, {place.url, "counter"});
  progress(text("      the file says %ld; %.2f s, %.0f increments/s", count.counted, count.seconds,
                static_cast<double>(count.counted) / count.seconds));
  return {"Under the lock, none is lost", count.lost() == 0, text("%ld of %ld lost", count.lost(), count.expected)};
}

struct Entered {
  double when = 0;
  std::string owner;
};

Entered read_entered(Process& worker) {
  std::istringstream line(worker.read_line());
  std::string event;
  Entered entered;
  line >> event >> entered.when >> entered.owner;
  return entered;
}

Claim killed_holder_is_followed(const Place& place) {
  const double lease = static_cast<double>(kLease.count());
  progress(text("[3/4] A holder (lease %.0f ms, renewed) is killed with SIGKILL; another process waits", lease));
  holdfast::Lock lock = place.client.lock("killed");
  Process holder = start_worker({"hold", place.url, "killed"});
  holder.read_line();
  Process next = start_worker({"enter", place.url, "killed"});
  next.read_line();
  std::this_thread::sleep_for(900ms);

  const double asked = now_ms();
  const double remaining = static_cast<double>(lock.remaining().value_or(0ms).count());
  holder.send(SIGKILL);
  const double killed = now_ms();
  const double left = remaining - (killed - asked);
  progress(text("      killed with %.0f ms of its lease left", left));
  const double waited = read_entered(next).when - killed;
  next.close_input();
  const bool released = next.wait();
  progress(text("      the next holder entered %.0f ms after the kill", waited));
  // Never early (20 ms: for what the clocks round), never late; a renewal may have come between question and kill.
  return {"A killed holder is followed when its lease ends",
          remaining > 0 && waited >= left - 20 && waited <= lease + 100 && released,
          text("%.0f ms after the kill, %.0f ms were left", waited, left)};
}

std::vector<Claim> frozen_holder_is_told(const Place& place) {
  progress(text("[4/4] A holder is frozen with SIGSTOP past its lease; another process waits"));
  holdfast::Lock lock = place.client.lock("frozen");
  Process holder = start_worker({"hold", place.url, "frozen"});
  holder.read_line();
  Process next = start_worker({"enter", place.url, "frozen"});
  next.read_line();
  std::this_thread::sleep_for(300ms);

  const double frozen = now_ms();
  holder.send(SIGSTOP);
  const Entered entered = read_entered(next);
  progress(text("      the next holder entered after %.0f ms; the first one wakes up", entered.when - frozen));
  std::this_thread::sleep_for(100ms);
  const double woken = now_ms();
  holder.send(SIGCONT);
  std::istringstream line(holder.read_line());
  std::string event;
  std::string token;
  double last_valid_step = 0;
  line >> event >> token >> last_valid_step;
  const bool told = event == "lost" && token == "stopped" && last_valid_step < woken;
  progress(text("      its first step: valid_for() is zero, the stop token is %s", token.c_str()));

  const bool release_said_lost = holder.wait();
  const bool undisturbed = lock.info().owner == entered.owner;
  next.close_input();
  const bool released = next.wait();
  return {{"A frozen holder is told before its first step", told,
           text("last valid step %.0f ms before it woke up", woken - last_valid_step)},
          {"Its late release leaves the next holder alone", release_said_lost && undisturbed && released,
           undisturbed ? "the next one still held it" : "the next one lost it"}};
}

int run() {
  support::end_waits_on_interrupt();
  TempFolder folder;
  const holdfast::TestServer server;
  holdfast::Client client{server.url()};
  client.ping();
  progress("main job: a Redis server runs on " + server.url() + ", for this job only");
  const Place place{folder.path(), server.url(), client};

  std::vector<Claim> claims{unprotected_updates_are_lost(place), guarded_updates_are_kept(place),
                            killed_holder_is_followed(place)};
  for (Claim& claim : frozen_holder_is_told(place)) {
    claims.push_back(std::move(claim));
  }

  bool all_held = true;
  std::printf("\n%-48s | %-6s | %s\n", "claim", "result", "measured");
  for (const Claim& claim : claims) {
    std::printf("%-48s | %-6s | %s\n", claim.text.c_str(), claim.held ? "held" : "FAILED", claim.result.c_str());
    all_held = all_held && claim.held;
  }
  return all_held ? 0 : 1;
}

}  // namespace
}  // namespace main_job

int main(int argc, char** argv) {
  try {
    if (argc > 1) return main_job::run_worker({argv + 1, argv + argc});
    return main_job::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "main job: %s\n", error.what());
    return 2;
  }
}
