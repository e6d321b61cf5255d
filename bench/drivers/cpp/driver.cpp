#include "driver.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iostream>
#include <latch>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <unistd.h>

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
std::uint32_t as_sample(Clock::duration length) {
  return static_cast<std::uint32_t>(std::min<long long>(nanoseconds(length).count(), UINT32_MAX));
}

using Samples = std::vector<std::uint32_t>;

/// Runs a body for each caller on a thread of its own; all begin together at `start`, or at once.
template <class Body>
void run_callers(int count, Clock::time_point start, Body body) {
  std::latch ready(count);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ready.arrive_and_wait();
      std::this_thread::sleep_until(start);
      try {
        body(i);
      } catch (...) {
        thrown[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

Samples merged(const std::vector<Samples>& parts) {
  Samples all;
  for (const Samples& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

class Driver {
 public:
  explicit Driver(Contestant& contestant) : contestant_(contestant) {}

  std::string answer(const Arguments& command) {
    const std::string& verb = command.verb();
    if (verb == "pairs") return pairs(command);
    if (verb == "usage") return fmt::format(R"({{"cpu_us":{:.0f},"rss_bytes":{}}})", cpu_us(), rss_bytes());
    if (!contestant_.waits()) return R"({"unsupported":"it does not wait"})";
    if (verb == "hot") return hot(command);
    if (verb == "take") return take(command);
    if (verb == "release") return release(command);
    if (verb == "crowd") return crowd(command);
    if (verb == "crowd_go") return crowd_go();
    if (verb == "hold") return contestant_.renews() ? hold(command) : R"({"unsupported":"no watchdog"})";
    return R"({"unsupported":"no such command"})";
  }

 private:
  std::string pairs(const Arguments& command) {
    const int threads = static_cast<int>(command.number("threads"));
    const duration<double> length(command.real("seconds"));
    std::vector<Samples> samples(static_cast<std::size_t>(threads));
    std::vector<std::unique_ptr<Locker>> lockers;
    for (int i = 0; i < threads; ++i) {
      lockers.push_back(contestant_.locker(i, command.text("keys") + ":" + std::to_string(i)));
      samples[static_cast<std::size_t>(i)].reserve(1 << 18);
    }
    const double cpu = cpu_us();
    const Clock::time_point start = Clock::now();
    const Clock::time_point end = start + std::chrono::duration_cast<Clock::duration>(length);
    run_callers(threads, start, [&](int caller) {
      Locker& locker = *lockers[static_cast<std::size_t>(caller)];
      Samples& mine = samples[static_cast<std::size_t>(caller)];
      for (Clock::time_point begun = Clock::now(); begun < end;) {
        locker.take();
        locker.release();
        const Clock::time_point done = Clock::now();
        mine.push_back(as_sample(done - begun));
        begun = done;
      }
    });
    const double took = seconds_since(start);
    const double used = cpu_us() - cpu;
    Samples all = merged(samples);
    const std::size_t count = all.size();
    return fmt::format(R"({{"pairs":{},"seconds":{:.4f},{},"cpu_us":{:.0f}}})", count, took, percentiles(all, ""),
                       used);
  }

  std::string hot(const Arguments& command) {
    const int threads = static_cast<int>(command.number("threads"));
    const duration<double> length(command.real("seconds"));
    const microseconds inside(command.number("inside_us", 0));
    const long start_ns = command.number("start_ns", 0);
    std::vector<Samples> waits(static_cast<std::size_t>(threads));
    std::vector<long> served(static_cast<std::size_t>(threads));
    std::vector<std::unique_ptr<Locker>> lockers;
    for (int i = 0; i < threads; ++i) lockers.push_back(contestant_.locker(i, command.text("key")));
    const double cpu = cpu_us();
    const Clock::time_point start =
        start_ns > 0 ? Clock::time_point(Clock::duration(nanoseconds(start_ns))) : Clock::now();
    const Clock::time_point end = start + std::chrono::duration_cast<Clock::duration>(length);
    run_callers(threads, start, [&](int caller) {
      const auto index = static_cast<std::size_t>(caller);
      for (Clock::time_point begun = Clock::now(); begun < end; begun = Clock::now()) {
        const bool taken = lockers[index]->take_until(end);
        const Clock::time_point entered = Clock::now();
        waits[index].push_back(as_sample(entered - begun));
        if (!taken) continue;
        ++served[index];
        while (inside.count() > 0 && Clock::now() < entered + inside) {
        }
        lockers[index]->release();
      }
    });
    const double took = seconds_since(start);
    const double used = cpu_us() - cpu;
    Samples all = merged(waits);
    long sections = 0;
    for (const long each : served) sections += each;
    return fmt::format(R"({{"sections":{},"served":[{}],"seconds":{:.4f},{},"cpu_us":{:.0f}}})", sections,
                       fmt::join(served, ","), took, percentiles(all, "wait_"), used);
  }

  std::string take(const Arguments& command) {
    const std::string key = command.text("key");
    std::unique_ptr<Locker>& locker = taken_[key];
    if (!locker) locker = contestant_.locker(0, key);
    const bool taken = locker->take_until(Clock::now() + std::chrono::seconds(command.number("wait_s")));
    const Clock::time_point at = Clock::now();
    return fmt::format(R"({{"taken":{},"at_ns":{}}})", taken, in_ns(at));
  }

  std::string release(const Arguments& command) {
    const Clock::time_point before = Clock::now();
    taken_.at(command.text("key"))->release();
    return fmt::format(R"({{"before_ns":{},"after_ns":{}}})", in_ns(before), in_ns(Clock::now()));
  }

  std::string hold(const Arguments& command) {
    const long count = command.number("count");
    const std::string keys = command.text("keys");
    contestant_.reserve(static_cast<std::size_t>(count));
    const double cpu = cpu_us();
    const long rss = rss_bytes();
    std::atomic<long> next{0};
    const Clock::time_point start = Clock::now();
    run_callers(static_cast<int>(std::min<long>(64, count)), start, [&](int caller) {
      for (long i = next++; i < count; i = next++) {
        contestant_.hold(caller, static_cast<std::size_t>(i), keys + ":" + std::to_string(i));
      }
    });
    const double took = seconds_since(start);
    const double used = cpu_us() - cpu;
    return fmt::format(
        R"({{"held":{},"seconds":{:.4f},"cpu_us":{:.0f},"rss_before_bytes":{},"rss_after_bytes":{}}})", count, took,
        used, rss, rss_bytes());
  }

  std::string crowd(const Arguments& command) {
    const long waiters = command.number("waiters");
    const long locks = command.number("locks");
    const auto key = [keys = command.text("keys")](long lock) { return keys + ":" + std::to_string(lock); };
    held_.clear();
    for (long i = 0; i < locks; ++i) {
      held_.push_back(contestant_.locker(0, key(i)));
      held_.back()->take();
    }
    const long rss = rss_bytes();
    const Clock::time_point start = Clock::now();
    std::atomic<long> begun{0};
    for (long i = 0; i < waiters; ++i) {
      crowd_.emplace_back([this, i, &begun, name = key(i % locks)] {
        const std::unique_ptr<Locker> locker = contestant_.locker(static_cast<int>(i), name);
        ++begun;
        locker->take();
        locker->release();
      });
    }
    while (begun < waiters) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the last of them reach the queue
    return fmt::format(R"({{"waiting":{},"seconds":{:.4f},"rss_before_bytes":{},"rss_after_bytes":{}}})", waiters,
                       seconds_since(start), rss, rss_bytes());
  }

  std::string crowd_go() {
    const double cpu = cpu_us();
    const Clock::time_point start = Clock::now();
    for (const std::unique_ptr<Locker>& locker : held_) locker->release();
    for (std::thread& thread : crowd_) thread.join();
    const std::size_t grants = crowd_.size();
    const double took = seconds_since(start);
    crowd_.clear();
    held_.clear();
    return fmt::format(R"({{"grants":{},"seconds":{:.4f},"cpu_us":{:.0f}}})", grants, took, cpu_us() - cpu);
  }

  Contestant& contestant_;
  std::map<std::string, std::unique_ptr<Locker>> taken_;
  std::vector<std::unique_ptr<Locker>> held_;
  std::vector<std::thread> crowd_;
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

int serve(Contestant& contestant, ExtraVerb extra) {
  Driver driver(contestant);
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
