// SPDX-License-Identifier: Apache-2.0
#include "sim/report.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include <holdfast/error.hpp>

#include "sim/shrink.hpp"
#include "support/evidence.hpp"
#include "support/number.hpp"

namespace holdfast::test::sim {
namespace {

using Clock = std::chrono::steady_clock;

double as_ms(base::Duration time) { return static_cast<double>(time.count()) / 1e6; }

std::string command_for(const Plan& plan, const char* how) {
  return "build/tests/simulate --scenario " + plan.scenario + " --seed " + std::to_string(plan.seed) + how;
}

std::string promise_of(const Plan& plan) {
  const Outcome outcome = run(plan);
  return outcome.violation ? outcome.violation->promise : std::string();
}

/// `{"name": number, ...}`, without zeros.
std::string as_json(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts) {
    if (count > 0) out += (out.empty() ? "" : ", ") + ("\"" + name + "\": " + std::to_string(count));
  }
  return "{" + out + "}";
}

std::map<std::string, std::uint64_t> faults_of(const Outcome& outcome) {
  std::map<std::string, std::uint64_t> faults;
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    faults[to_string(static_cast<Fault::Kind>(kind))] = outcome.faults[static_cast<std::size_t>(kind)];
  }
  return faults;
}

std::map<std::string, std::uint64_t> failures_of(const Outcome& outcome) {
  std::map<std::string, std::uint64_t> failures;
  for (std::size_t code = 0; code < outcome.deeds.failures.size(); ++code) {
    if (outcome.deeds.failures[code] > 0) failures[to_string(static_cast<Errc>(code))] = outcome.deeds.failures[code];
  }
  return failures;
}

}  // namespace

Request Request::of(const std::vector<std::string>& words) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
      return words[++i];
    };
    if (words[i] == "--seeds") {
      request.seeds = number_in<std::uint64_t>(value(), 1);
    } else if (words[i] == "--first") {
      request.first = number_in<std::uint64_t>(value());
    } else if (words[i] == "--seed") {
      request.first = number_in<std::uint64_t>(value());
      request.repeat = true;
    } else if (words[i] == "--scenario") {
      request.scenarios.push_back(value());
      make_plan(request.scenarios.back(), 1);
    } else if (words[i] == "--trace") {
      request.trace = true;
    } else if (words[i] == "--shrink") {
      request.shrinks = true;
    } else if (words[i] == "--list") {
      request.list = request.repeat = true;
    } else {
      throw std::invalid_argument("unknown word " + words[i]);
    }
  }
  if (request.scenarios.empty()) {
    for (const Scenario& each : sim::scenarios()) request.scenarios.emplace_back(each.name);
  }
  return request;
}

int repeat(const Request& request) {
  if (request.list) {
    for (const Scenario& each : scenarios()) std::printf("%-14s %s\n", each.name.data(), each.about.data());
    return 0;
  }
  Plan plan = make_plan(request.scenario_of(request.first), request.first);
  if (request.shrinks) plan = shrink(std::move(plan), promise_of);
  std::fputs(describe(plan).c_str(), stdout);
  Trace trace;
  if (request.trace) {
    trace = [](base::TimePoint at, const std::string& what) {
      std::printf("%12.3f ms  %s\n", as_ms(at.time_since_epoch() - std::chrono::hours(1)), what.c_str());
    };
  }
  const Outcome outcome = run(plan, trace);
  std::printf("digest %016llx, %llu bytes, %.3f s of simulated time\n", static_cast<unsigned long long>(outcome.digest),
              static_cast<unsigned long long>(outcome.bytes), as_ms(outcome.length) / 1000);
  if (!outcome.violation) return 0;
  std::printf("VIOLATED %s: %s\n", outcome.violation->promise.c_str(), outcome.violation->what.c_str());
  return 1;
}

Report::Report(const Request& request) : request_(request) {}

double Report::seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void Report::take(const std::string& scenario, std::uint64_t seed) {
  const Plan plan = make_plan(scenario, seed);
  const Outcome outcome = run(plan);
  ++runs_;
  ++by_scenario_[scenario];
  add(outcome);
  if (outcome.violation) {
    ++failures_;
    tell_of(plan, *outcome.violation);
  }
  progress();
}

void Report::tell_of(const Plan& plan, const Violation& violation) {
  std::printf("VIOLATED %s: %s\n  again:  %s\n  small:  %s\n", violation.promise.c_str(), violation.what.c_str(),
              command_for(plan, " --trace").c_str(), command_for(plan, " --shrink --trace").c_str());
  std::fflush(stdout);
}

void Report::progress() {
  if (runs_ % 64 != 0 || Clock::now() - said_ < std::chrono::seconds(10)) return;
  said_ = Clock::now();
  std::printf("%llu seeds, %.0f a minute, %d failures\n", static_cast<unsigned long long>(runs_),
              static_cast<double>(runs_) / seconds() * 60, failures_);
  std::fflush(stdout);
}

void Report::add(const Outcome& outcome) {
  all_.bytes += outcome.bytes;
  all_.length += outcome.length;
  all_.deeds.calls += outcome.deeds.calls;
  all_.deeds.grants += outcome.deeds.grants;
  all_.deeds.writes += outcome.deeds.writes;
  for (std::size_t i = 0; i < all_.deeds.failures.size(); ++i) all_.deeds.failures[i] += outcome.deeds.failures[i];
  for (std::size_t i = 0; i < all_.deeds.losses.size(); ++i) all_.deeds.losses[i] += outcome.deeds.losses[i];
  for (std::size_t i = 0; i < all_.faults.size(); ++i) all_.faults[i] += outcome.faults[i];
  all_.counters.contended += outcome.counters.contended;
  all_.counters.renewals += outcome.counters.renewals;
  all_.counters.safety_poll_wakes += outcome.counters.safety_poll_wakes;
  all_.counters.connections += outcome.counters.connections;
  all_.tally.told += outcome.tally.told;
  all_.tally.forgotten += outcome.tally.forgotten;
  all_.tally.beside += outcome.tally.beside;
  all_.tally.longest_free = std::max(all_.tally.longest_free, outcome.tally.longest_free);
  all_.tally.told_after = std::max(all_.tally.told_after, outcome.tally.told_after);
}

int Report::finish() {
  std::ostringstream out;
  out << runs_ << " seeds from " << request_.first << " on, " << failures_ << " failures; " << std::fixed;
  out.precision(1);
  out << seconds() << " s, " << processor_seconds()
      << " s of processor time: " << static_cast<std::uint64_t>(static_cast<double>(runs_) / processor_seconds() * 60)
      << " seeds a minute on one core\n";
  out << as_ms(all_.length) / 3'600'000 << " h of simulated time, " << all_.deeds.calls << " calls, "
      << all_.deeds.grants << " grants, " << all_.counters.contended << " of them contended, " << all_.deeds.writes
      << " writes, " << all_.counters.renewals << " renewals, " << all_.counters.connections << " connections\n";
  out << all_.tally.told << " losses told, " << all_.tally.forgotten << " holds forgotten by the server, told after "
      << as_ms(all_.tally.told_after) << " ms at most; " << all_.tally.beside
      << " holds beside another; longest wait for a free lock " << as_ms(all_.tally.longest_free) << " ms\n";
  out << "faults: " << as_json(faults_of(all_)) << "\nfailed calls: " << as_json(failures_of(all_)) << "\n";
  std::fputs(out.str().c_str(), stdout);
  record();
  return failures_ == 0 ? 0 : 1;
}

/// For docs/evidence.md.
void Report::record() const {
  std::ostringstream out;
  out << R"("seconds": )" << seconds() << R"(, "processor_seconds": )" << processor_seconds() << R"(, "seeds": )"
      << runs_ << R"(, "first_seed": )" << request_.first << R"(, "failures": )" << failures_
      << R"(, "seeds_a_minute": )" << static_cast<double>(runs_) / processor_seconds() * 60
      << R"(, "simulated_seconds": )" << as_ms(all_.length) / 1000 << R"(, "calls": )" << all_.deeds.calls
      << R"(, "grants": )" << all_.deeds.grants << R"(, "contended": )" << all_.counters.contended
      << R"(, "losses_told": )" << all_.tally.told << R"(, "forgotten": )" << all_.tally.forgotten
      << R"(, "told_after_ms": )" << as_ms(all_.tally.told_after) << R"(, "longest_wait_for_free_ms": )"
      << as_ms(all_.tally.longest_free) << R"(, "scenarios": )" << as_json(by_scenario_) << R"(, "faults": )"
      << as_json(faults_of(all_)) << R"(, "failed_calls": )" << as_json(failures_of(all_));
  append_evidence("sim", out.str());
}

}  // namespace holdfast::test::sim
