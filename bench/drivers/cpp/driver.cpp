// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {
namespace {

using std::chrono::duration;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

double cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

long rss_bytes() {
  malloc_trim(0);
  long size = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

double seconds_since(Clock::time_point start) { return duration<double>(Clock::now() - start).count(); }
long long in_ns(Clock::time_point time) { return nanoseconds(time.time_since_epoch()).count(); }

std::vector<std::uint32_t> merged(const Callers& callers) {
  std::vector<std::uint32_t> all;
  for (const Caller& each : callers) all.insert(all.end(), each.samples.begin(), each.samples.end());
  return all;
}

/// As `,"asked_ns":[..],"entered_ns":[..]`.
std::string entries_of(const Callers& callers) {
  std::vector<long long> asked;
  std::vector<long long> entered;
  for (const Caller& each : callers) {
    for (const Span& entry : each.entries) {
      asked.push_back(in_ns(entry.start));
      entered.push_back(in_ns(entry.end));
    }
  }
  return fmt::format(R"(,"asked_ns":[{}],"entered_ns":[{}])", fmt::join(asked, ","), fmt::join(entered, ","));
}

class Driver {
 public:
  explicit Driver(Face& face) : face_(face) {}

  std::string answer(const Arguments& command) {
    const std::string& verb = command.verb();
    if (!face_.has(command.text("kind", "lock"))) return R"({"unsupported":"it has no such kind"})";
    if (verb == "pairs") return pairs(command);
    if (verb == "usage") return fmt::format(R"({{"cpu_us":{:.0f},"rss_bytes":{}}})", cpu_us(), rss_bytes());
    if (!face_.waits()) return R"({"unsupported":"it does not wait"})";
    if (verb == "hot") return hot(command);
    if (verb == "take") return take(command);
    if (verb == "release") return release(command);
    if (verb == "crowd") return crowd(command);
    if (verb == "crowd_go") return crowd_go();
    if (verb == "hold") return face_.renews() ? hold(command) : R"({"unsupported":"no watchdog"})";
    return R"({"unsupported":"no such command"})";
  }

 private:
  /// From `start` on, or at once.
  static Span span(const Arguments& command, Clock::time_point start = Clock::now()) {
    const duration<double> length(command.real("seconds"));
    return {start, start + std::chrono::duration_cast<Clock::duration>(length)};
  }

  static Thing thing(const Arguments& command, const std::string& key) {
    return {key, command.text("kind", "lock"), command.number("of", 1)};
  }

  std::string pairs(const Arguments& command) {
    Callers callers;
    for (long i = 0; i < command.number("threads"); ++i) {
      callers.push_back({thing(command, numbered(command.text("keys"), i))});
      callers.back().samples.reserve(1 << 18);
    }
    const auto run = face_.pairs(callers, microseconds(command.number("pause_us", 0)));
    const double cpu = cpu_us();
    const Span asked = span(command);
    run(asked);
    const double took = seconds_since(asked.start);
    const double used = cpu_us() - cpu;
    std::vector<std::uint32_t> all = merged(callers);
    const std::size_t count = all.size();
    return fmt::format(R"({{"pairs":{},"seconds":{:.4f},{},"cpu_us":{:.0f}}})", count, took, percentiles(all, ""),
                       used);
  }

  std::string hot(const Arguments& command) {
    Callers callers(static_cast<std::size_t>(command.number("threads")), {thing(command, command.text("key"))});
    const bool entries = command.number("entries", 0) != 0;
    for (Caller& each : callers) each.keeps_entries = entries;
    const auto run = face_.hot(callers, microseconds(command.number("inside_us", 0)));
    const long start_ns = command.number("start_ns", 0);
    const double cpu = cpu_us();
    const Span asked =
        start_ns > 0 ? span(command, Clock::time_point(Clock::duration(nanoseconds(start_ns)))) : span(command);
    run(asked);
    const double took = seconds_since(asked.start);
    const double used = cpu_us() - cpu;
    std::vector<std::uint32_t> all = merged(callers);
    std::vector<long> served;
    for (const Caller& each : callers) served.push_back(each.served);
    return fmt::format(R"({{"sections":{},"served":[{}],"seconds":{:.4f},{},"cpu_us":{:.0f}{}}})",
                       std::accumulate(served.begin(), served.end(), 0L), fmt::join(served, ","), took,
                       percentiles(all, "wait_"), used, entries ? entries_of(callers) : "");
  }

  std::string take(const Arguments& command) {
    const Clock::time_point until = Clock::now() + std::chrono::seconds(command.number("wait_s"));
    const Face::Taken found = face_.take(thing(command, command.text("key")), until);
    return fmt::format(R"({{"taken":{},"at_ns":{}}})", found.taken, in_ns(found.at));
  }

  std::string release(const Arguments& command) {
    const Span around = face_.release(command.text("key"));
    return fmt::format(R"({{"before_ns":{},"after_ns":{}}})", in_ns(around.start), in_ns(around.end));
  }

  std::string hold(const Arguments& command) {
    const long count = command.number("count");
    const auto run = face_.hold(count, command.text("keys"));
    const double cpu = cpu_us();
    const long rss = rss_bytes();
    const Clock::time_point start = Clock::now();
    run();
    const double took = seconds_since(start);
    const double used = cpu_us() - cpu;
    return fmt::format(R"({{"held":{},"seconds":{:.4f},"cpu_us":{:.0f},"rss_before_bytes":{},"rss_after_bytes":{}}})",
                       count, took, used, rss, rss_bytes());
  }

  std::string crowd(const Arguments& command) {
    const long locks = command.number("locks");
    const std::string keys = command.text("keys");
    waiters_ = command.number("waiters");
    face_.take_all(locks, keys);
    const long rss = rss_bytes();
    const Clock::time_point start = Clock::now();
    face_.gather(waiters_, locks, keys);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the last of them reach the queue
    return fmt::format(R"({{"waiting":{},"seconds":{:.4f},"rss_before_bytes":{},"rss_after_bytes":{}}})", waiters_,
                       seconds_since(start), rss, rss_bytes());
  }

  std::string crowd_go() {
    const double cpu = cpu_us();
    const Clock::time_point start = Clock::now();
    face_.let_in();
    return fmt::format(R"({{"grants":{},"seconds":{:.4f},"cpu_us":{:.0f}}})", std::exchange(waiters_, 0),
                       seconds_since(start), cpu_us() - cpu);
  }

  Face& face_;
  long waiters_ = 0;
};

}  // namespace

Arguments::Arguments(const std::string& line) {
  std::istringstream words(line);
  words >> verb_;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("not key=value: " + word);
    values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string Arguments::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw std::invalid_argument(verb_ + " needs " + key + "=");
  return found->second;
}

std::string Arguments::text(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

long Arguments::number(const std::string& key) const { return std::stol(text(key)); }
long Arguments::number(const std::string& key, long otherwise) const {
  return values_.contains(key) ? number(key) : otherwise;
}
double Arguments::real(const std::string& key) const { return std::stod(text(key)); }

std::string percentiles(std::vector<std::uint32_t>& samples, const std::string& name) {
  if (samples.empty()) samples.push_back(0);
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))] / 1e3;
  };
  return fmt::format(R"("{0}p50_us":{1:.2f},"{0}p99_us":{2:.2f},"{0}max_us":{3:.2f})", name, at(0.5), at(0.99), at(1));
}

void serve(Face& face, ExtraVerb extra) {
  Driver driver(face);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      const Arguments command(line);
      if (extra != nullptr) answer = extra(command);
      if (answer.empty()) answer = driver.answer(command);
    } catch (const std::exception& error) {
      std::string text = error.what();
      std::replace(text.begin(), text.end(), '"', '\'');
      answer = fmt::format(R"({{"error":"{}"}})", text);
    }
    std::cout << answer << std::endl;
  }
  std::cout.flush();
  _exit(0);  // whatever is still held
}

}  // namespace bench
