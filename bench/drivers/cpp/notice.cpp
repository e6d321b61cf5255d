// SPDX-License-Identifier: Apache-2.0
// What loss notices take and cost: bench/notice runs it against a server of its own.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <holdfast/holdfast.hpp>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A look at the server that shares nothing with the library.
class Server {
 public:
  explicit Server(const std::string& path) : context_(redisConnectUnix(path.c_str()), redisFree) {
    if (context_ == nullptr || context_->err != 0) throw std::runtime_error("no server at " + path);
  }

  template <class... Args>
  std::string command(const char* format, Args... args) {
    const std::unique_ptr<void, void (*)(void*)> reply(redisCommand(context_.get(), format, args...), freeReplyObject);
    const auto* const text = static_cast<const redisReply*>(reply.get());
    if (text == nullptr) throw std::runtime_error("the server is gone");
    return text->str != nullptr ? std::string(text->str, text->len) : std::string();
  }
  double info(const std::string& field) {
    const std::string all = command("INFO");
    return std::atof(all.c_str() + all.find("\n" + field + ":") + field.size() + 2);
  }
  /// Seconds of its processor so far.
  double cpu() { return info("used_cpu_sys") + info("used_cpu_user"); }

 private:
  const std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

holdfast::Config config(const std::string& path, bool notice, std::chrono::milliseconds lease = 30s) {
  holdfast::Config config;
  config.server = holdfast::UnixSocket{path};
  config.lease = lease;
  config.loss_notice = notice;
  return config;
}

/// Other calls of the same client.
class Callers {
 public:
  Callers(holdfast::Client& client, int count, std::chrono::milliseconds pause) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([lock = client.lock("caller:" + std::to_string(i)), pause](const std::stop_token& stop) mutable {
        while (!stop.stop_requested()) {
          lock.lock();
          lock.unlock();
          if (pause > 0ms) std::this_thread::sleep_for(pause);
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

/// From a DEL to the stop token of a hold, in milliseconds, hold after hold.
void delay(const std::string& path, const std::string& beside, int callers, std::chrono::milliseconds pause) {
  constexpr int kRounds = 200;
  Server server(path);
  server.command("FLUSHALL");
  holdfast::Client client(config(path, true));
  std::vector<holdfast::Hold> holds;
  for (int i = 0; i < kRounds; ++i) holds.push_back(client.lock("held:" + std::to_string(i)).acquire());
  while (client.counters().watched < kRounds) std::this_thread::sleep_for(10ms);
  const Callers others(client, callers, pause);
  std::this_thread::sleep_for(1500ms);
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    std::atomic<Clock::rep> told{0};
    const std::stop_callback on_stop(holds[static_cast<std::size_t>(i)].lost_token(),
                                     [&] { told.store(Clock::now().time_since_epoch().count()); });
    const auto begun = Clock::now();
    server.command("DEL held:%d", i);
    while (told.load() == 0) std::this_thread::sleep_for(200us);
    times.push_back(static_cast<double>(told.load() - begun.time_since_epoch().count()) / 1e6);
    std::this_thread::sleep_for(7ms);
  }
  std::ranges::sort(times);
  fmt::print("DEL to lost(), {:<34} median {:6.2f} ms, 95 % {:6.2f} ms, worst {:6.2f} ms\n", beside + ":",
             times[kRounds / 2], times[kRounds * 95 / 100], times.back());
}

/// The server's processor time for a pair of acquire and release.
double pair_cpu(Server& server, const std::string& path, bool notice) {
  constexpr int kPairs = 40'000;
  holdfast::Client client(config(path, notice));
  holdfast::Lock lock = client.lock("pair");
  lock.lock();
  lock.unlock();
  const double before = server.cpu();
  for (int i = 0; i < kPairs; ++i) {
    lock.lock();
    lock.unlock();
  }
  return (server.cpu() - before) / kPairs * 1e6;
}

/// The server's processor time for a second of 1,000 holds that are renewed.
double held_cpu(Server& server, const std::string& path, bool notice) {
  constexpr auto kTime = 10s;
  holdfast::Client client(config(path, notice, 3s));
  std::vector<holdfast::Hold> holds;
  for (int i = 0; i < 1000; ++i) holds.push_back(client.lock("held:" + std::to_string(i)).acquire());
  std::this_thread::sleep_for(1500ms);
  const double before = server.cpu();
  std::this_thread::sleep_for(kTime);
  return (server.cpu() - before) / std::chrono::duration<double>(kTime).count() * 1e3;
}

/// In turn, so that what else the machine does meets both.
template <class Measure>
void compare(const char* what, Measure measure, int rounds) {
  std::vector<double> with;
  std::vector<double> without;
  for (int i = 0; i < rounds; ++i) {
    without.push_back(measure(false));
    with.push_back(measure(true));
  }
  std::ranges::sort(with);
  std::ranges::sort(without);
  const double median_with = with[with.size() / 2];
  const double median_without = without[without.size() / 2];
  fmt::print("{}: without {:.2f}, with {:.2f}, ratio {:.3f}\n", what, median_without, median_with,
             median_with / median_without);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "Usage: notice SOCKET\n");
    return 2;
  }
  const std::string path = arguments[1];
  delay(path, "a client that only holds", 0, 0ms);
  delay(path, "beside 4 callers", 4, 0ms);
  delay(path, "beside 1 caller", 1, 0ms);
  delay(path, "beside 1 caller every 100 ms", 1, 100ms);
  Server server(path);
  compare("server's us for a pair", [&](bool notice) { return pair_cpu(server, path, notice); }, 7);
  compare("server's ms a second for 1,000 holds, lease 3 s",
          [&](bool notice) { return held_cpu(server, path, notice); }, 3);
  return 0;
}
