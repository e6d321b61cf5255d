// SPDX-License-Identifier: Apache-2.0
// The floors: hiredis, a connection for each caller, with SET NX PX and a compare-and-delete script; or with the two scripts
// of Holdfast's plain lock.
// Usage: raw commands|scripts URL [lease_ms=30000] [clients=1] (clients: ignored)   Its own verb: push_floor count=N
#include <array>
#include <atomic>
#include <exception>
#include <hiredis/hiredis.h>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "kinds/lock.hpp"
#include "threads.hpp"

namespace {

struct Server {
  std::string host;
  int port = 0;
  std::chrono::milliseconds lease{};
} server;

constexpr const char* kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, Free>;

class Connection {
 public:
  Connection() : context_(redisConnect(server.host.c_str(), server.port)) {
    if (!context_ || context_->err != 0) throw std::runtime_error("cannot connect to the server");
  }
  template <class... Words>
  Reply ask(const Words&... words) {
    std::array<const char*, sizeof...(words)> texts{words.c_str()...};
    std::array<std::size_t, sizeof...(words)> sizes{words.size()...};
    return ask(texts, sizes);
  }
  template <class Texts, class Sizes>
  Reply ask(Texts& texts, const Sizes& sizes) {
    return checked(redisCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data()));
  }
  Reply next() {
    void* reply = nullptr;
    redisGetReply(context_.get(), &reply);
    return checked(reply);
  }

 private:
  static Reply checked(void* reply) {
    Reply owned(static_cast<redisReply*>(reply));
    if (!owned) throw std::runtime_error("the connection broke");
    if (owned->type == REDIS_REPLY_ERROR) throw std::runtime_error(owned->str);
    return owned;
  }
  std::unique_ptr<redisContext, Free> context_;
};

class RawLocker final : public bench::Locker {
 public:
  explicit RawLocker(const std::string& key) : key_(key) {
    script_ = connection_.ask(std::string("SCRIPT"), std::string("LOAD"), std::string(kCompareAndDelete))->str;
  }
  void take() override {
    token_ = fmt::format("{:016x}", ++number_);
    if (connection_.ask(kSet, key_, token_, kNx, kPx, lease_ms_)->type == REDIS_REPLY_NIL) {
      throw std::runtime_error("taken by somebody else");
    }
  }
  bool take_until(bench::Clock::time_point) override { return false; }
  void release() override {
    if (connection_.ask(kEvalsha, script_, kOne, key_, token_)->integer != 1) throw std::runtime_error("not mine");
  }

 private:
  const std::string kSet{"SET"}, kNx{"NX"}, kPx{"PX"}, kEvalsha{"EVALSHA"}, kOne{"1"};
  static inline std::atomic<unsigned long> number_{0};
  const std::string lease_ms_ = std::to_string(server.lease.count());
  const std::string key_;
  Connection connection_;
  std::string script_;
  std::string token_;
};

/// The call of a script, in words that are made once.
class ScriptCall {
 public:
  ScriptCall(Connection& connection, const holdfast::base::Command& command) : words_(command.args) {
    const std::string text(command.script->text);
    words_.insert(words_.begin(), {"EVALSHA", connection.ask(std::string("SCRIPT"), std::string("LOAD"), text)->str});
    for (const std::string& word : words_) {
      texts_.push_back(word.c_str());
      sizes_.push_back(word.size());
    }
  }
  Reply ask(Connection& connection) { return connection.ask(texts_, sizes_); }

 private:
  std::vector<std::string> words_;
  std::vector<const char*> texts_;
  std::vector<std::size_t> sizes_;
};

class ScriptLocker final : public bench::Locker {
 public:
  explicit ScriptLocker(const std::string& key) : names_(holdfast::wire::lock::names(key)) {}
  void take() override {
    if (acquire_.ask(connection_)->type != REDIS_REPLY_NIL) throw std::runtime_error("taken by somebody else");
  }
  bool take_until(bench::Clock::time_point) override { return false; }
  void release() override {
    if (release_.ask(connection_)->type != REDIS_REPLY_INTEGER) throw std::runtime_error("not mine");
  }

 private:
  const holdfast::wire::LockNames names_;
  const holdfast::wire::Owner owner_{holdfast::wire::make_uuid() + ":1"};
  Connection connection_;
  ScriptCall acquire_{connection_, holdfast::wire::lock::acquire({{&names_, 1}, owner_, server.lease})};
  ScriptCall release_{connection_, holdfast::wire::lock::release({{&names_, 1}, owner_})};
};

class Raw final : public bench::Contestant {
 public:
  explicit Raw(bool scripts) : scripts_(scripts) {}
  std::unique_ptr<bench::Locker> locker(int, const bench::Thing& thing) override {
    if (scripts_) return std::make_unique<ScriptLocker>(thing.key);
    return std::make_unique<RawLocker>(thing.key);
  }
  void hold(int, std::size_t, const std::string&) override { throw std::logic_error("it renews nothing"); }
  bool waits() const override { return false; }

 private:
  const bool scripts_;
};

/// What a hand-over cannot be faster than: somebody publishes, a subscriber hears it and makes one round trip.
std::string push_floor(const bench::Arguments& command) {
  if (command.verb() != "push_floor") return {};
  const long count = command.number("count");
  const std::string channel = "push_floor";
  std::atomic<long> heard{-1};
  std::atomic<long long> entered_ns{0};
  std::thread subscriber([&] {
    Connection ear;
    Connection hand;
    ear.ask(std::string("SUBSCRIBE"), channel);
    heard = 0;
    for (long i = 0; i < count; ++i) {
      ear.next();
      hand.ask(std::string("SET"), channel, std::string("x"), std::string("PX"), std::string("1000"));
      entered_ns = bench::Clock::now().time_since_epoch().count();
      heard = i + 1;
    }
  });
  Connection mouth;
  std::vector<std::uint32_t> samples;
  while (heard < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (long i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const long long before = bench::Clock::now().time_since_epoch().count();
    mouth.ask(std::string("PUBLISH"), channel, std::string("0"));
    while (heard <= i) std::this_thread::sleep_for(std::chrono::microseconds(200));
    samples.push_back(static_cast<std::uint32_t>(entered_ns - before));
  }
  subscriber.join();
  return "{" + bench::percentiles(samples, "") + "}";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string which = argc < 2 ? "" : argv[1], url = argc < 3 ? "" : argv[2];
  const std::string scheme = "redis://";
  const std::size_t colon = url.rfind(':');
  if ((which != "commands" && which != "scripts") || !url.starts_with(scheme) || colon < scheme.size())
    throw std::invalid_argument("usage: raw commands|scripts redis://HOST:PORT");
  std::string words = "start";
  for (int i = 3; i < argc; ++i) words += std::string(" ") + argv[i];
  server = {url.substr(scheme.size(), colon - scheme.size()), std::stoi(url.substr(colon + 1)),
            std::chrono::milliseconds(bench::Arguments(words).number("lease_ms", 30000))};
  Raw contestant(which == "scripts");
  bench::serve(*bench::on_threads(contestant), push_floor);
} catch (const std::exception& error) {
  std::cerr << "driver: " << error.what() << '\n';
  return 1;
}
