// SPDX-License-Identifier: Apache-2.0
#include "periodic_job/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "periodic_job/job.hpp"
#include "support/process.hpp"

namespace periodic_job {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongest = 60s;   // for anything to happen; only a failure takes so long
constexpr double kSlack = 1000;  // ms that a busy machine may add

struct Line {
  double when = 0;
  std::string name;
  std::string what;
};

class Journal {
 public:
  explicit Journal(std::string file) : file_(std::move(file)) {}
  const std::string& file() const { return file_; }

  std::vector<Line> read() const {
    std::vector<Line> lines;
    std::ifstream input(file_);
    std::string text;
    while (std::getline(input, text) && !input.eof()) {
      std::istringstream fields(text);
      Line line;
      fields >> line.when >> line.name >> line.what;
      lines.push_back(line);
    }
    return lines;
  }

  /// The first line from this time on that `matches`; waits for it.
  template <class Matches>
  Line await(double from, Matches matches) const {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    do {
      for (const Line& line : read()) {
        if (line.when >= from && matches(line)) return line;
      }
      std::this_thread::sleep_for(5ms);
    } while (std::chrono::steady_clock::now() < end);
    throw std::runtime_error("what the trial waits for is not in the journal");
  }

 private:
  std::string file_;
};

struct Trial {
  holdfast::Client client;
  Journal journal;
  std::map<std::string, support::Process> instances{};
  bool all_held = true;

  void claim(const std::string& text, bool held, const std::string& seen) {
    std::cout << (held ? "held    " : "FAILED  ") << text << ": " << seen << std::endl;
    all_held = all_held && held;
  }
  void start(const std::string& url, const std::string& name) {
    instances.emplace(name, support::start_worker({url, journal.file(), name}));
  }
  /// Waits for a new leader, which has its whole term before it, and sends it a signal. Returns its name and when.
  Line strike_leader(int signal) {
    const Line leader = journal.await(now_ms(), [](const Line& line) { return line.what == "leads"; });
    instances.at(leader.name).send(signal);
    return {now_ms(), leader.name, "struck"};
  }
  /// Waits for another leader's first run of the job. Returns its time after `struck`, in milliseconds.
  double takeover(const Line& struck) const {
    const Line next =
        journal.await(struck.when, [&](const Line& line) { return line.what == "begin" && line.name != struck.name; });
    return next.when - struck.when;
  }
  void claim_takeover(const std::string& text, double took) {
    const auto lease = static_cast<double>(kLease.count());
    char seen[64];
    std::snprintf(seen, sizeof seen, "after %.0f ms, with a lease of %.0f ms", took, lease);
    claim(text, took <= lease + kSlack, seen);
  }
};

void everybody_has_a_turn(Trial& trial) {
  std::set<std::string> led;
  trial.journal.await(0, [&](const Line& line) {
    if (line.what == "yields") led.insert(line.name);
    return led.size() >= 2;
  });
  trial.claim("a leader steps down after its term, and another one leads", true,
              std::to_string(led.size()) + " have led");
}

void killed_leader_is_followed(Trial& trial) {
  const Line killed = trial.strike_leader(SIGKILL);
  trial.claim_takeover("a killed leader is followed within a lease", trial.takeover(killed));
  trial.instances.erase(killed.name);
}

void frozen_leader_is_followed_and_told(Trial& trial) {
  const Line frozen = trial.strike_leader(SIGSTOP);
  const double took = trial.takeover(frozen);
  const double woken = now_ms();
  trial.instances.at(frozen.name).send(SIGCONT);
  trial.claim_takeover("a frozen leader is followed within a lease", took);

  const auto of_frozen = [&](const Line& line) { return line.name == frozen.name; };
  const Line first = trial.journal.await(woken, of_frozen);
  trial.claim("when it wakes up, it does not go on", first.what == "lost",
              "the first that it writes is: " + first.what);
  trial.journal.await(first.when, [&](const Line& line) { return of_frozen(line) && line.what == "begin"; });
}

void instances_stop(Trial& trial) {
  for (auto& [name, instance] : trial.instances) instance.send(SIGTERM);
  bool well = true;
  for (auto& [name, instance] : trial.instances) well = instance.wait() && well;
  const bool locked = trial.client.lock("example:leader").is_locked();
  trial.claim("told to stop, the others end and leave no lock", well && !locked,
              std::string(well ? "status 0" : "another status than 0") + (locked ? ", locked" : ", free"));
}

/// Every begin and end was written by an instance that took itself for the leader at that time. So no such line of one
/// term may stand, in time, between two of another's.
void runs_do_not_overlap(Trial& trial) {
  using Term = std::pair<std::string, int>;  // an instance, and how often it has led so far
  std::vector<std::pair<double, Term>> steps;
  std::map<std::string, int> terms;
  int runs = 0;
  for (const Line& line : trial.journal.read()) {
    if (line.what == "leads") ++terms[line.name];
    if (line.what == "begin" || line.what == "end") steps.push_back({line.when, {line.name, terms[line.name]}});
    if (line.what == "end") ++runs;
  }
  std::sort(steps.begin(), steps.end());
  std::vector<Term> order;
  for (const auto& [when, term] : steps) {
    if (order.empty() || order.back() != term) order.push_back(term);
  }
  const std::size_t distinct = std::set<Term>(order.begin(), order.end()).size();
  trial.claim("no run of the job overlaps with another instance's", runs > 0 && order.size() == distinct,
              std::to_string(runs) + " runs in " + std::to_string(distinct) + " terms, " +
                  std::to_string(order.size() - distinct) + " interleaved");
}

}  // namespace

bool try_out(const std::string& url) {
  support::end_waits_on_interrupt();
  const support::TempFolder folder;
  Trial trial{holdfast::Client(url), Journal(folder.path() / "journal")};
  for (const char* name : {"one", "two", "three"}) trial.start(url, name);
  everybody_has_a_turn(trial);
  killed_leader_is_followed(trial);
  frozen_leader_is_followed_and_told(trial);
  instances_stop(trial);
  runs_do_not_overlap(trial);
  return trial.all_held;
}

}  // namespace periodic_job
