// SPDX-License-Identifier: Apache-2.0
// What the fault tests share: quick settings, a log of what the observer was told, and the look of an error.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/proxy.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/wait.hpp"

namespace holdfast {

/// For failure messages of googletest.
inline void PrintTo(const Error& error, std::ostream* out) { *out << error.what(); }
inline void PrintTo(ReleaseOutcome outcome, std::ostream* out) { *out << to_string(outcome); }
inline void PrintTo(HoldState state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(LossReason reason, std::ostream* out) { *out << to_string(reason); }

}  // namespace holdfast

namespace holdfast::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The code of an error, as a matcher's argument.
inline std::error_code code(Errc errc) { return make_error_code(errc); }

/// What a call threw; empty if it threw nothing.
template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// An error with this code that names key, node and cause, in its parts and in its text.
inline testing::Matcher<std::optional<Error>> IsError(Errc errc, const std::string& key, const std::string& node,
                                                      const testing::Matcher<std::string>& cause) {
  using testing::AllOf;
  using testing::HasSubstr;
  using testing::Property;
  using testing::ResultOf;
  const auto what = [](const Error& error) { return std::string(error.what()); };
  const auto tells_cause = [](const Error& error) {
    return error.cause().empty() || std::string(error.what()).find(error.cause()) != std::string::npos;
  };
  return testing::Optional(AllOf(Property("code", &Error::code, code(errc)), Property("key", &Error::key, key),
                                 Property("node", &Error::node, node), Property("cause", &Error::cause, cause),
                                 ResultOf("what", what, AllOf(HasSubstr(key), HasSubstr(node))),
                                 ResultOf("the cause is told", tells_cause, true)));
}

/// How long a call took.
template <class Call>
steady_clock::duration duration_of(Call&& call) {
  const auto began = steady_clock::now();
  call();
  return steady_clock::now() - began;
}

/// What a call threw, and how long it took.
struct Timed {
  std::optional<Error> error;
  steady_clock::duration took{};
};
template <class Call>
Timed timed_error_of(Call&& call) {
  Timed timed;
  timed.took = duration_of([&] { timed.error = error_of(call); });
  return timed;
}

/// Settings with which faults show soon. A command's time limit is far above any time that a healthy server needs.
inline Config quick_config(const std::string& url) {
  Config config = Config::from_url(url);
  config.timing.command_timeout = 2000ms;
  config.timing.release_timeout = 1000ms;
  config.lease = 3000ms;
  config.timing.safety_poll = 60s;
  config.timing.reconnect_max = 200ms;
  return config;
}

inline std::string channel_of(const std::string& name) { return "redisson_lock__channel:{" + name + "}"; }

/// Waits until this many connections are subscribed to the channel of a lock.
inline bool listeners(Raw& raw, const std::string& name, long long count = 1) {
  return eventually([&] {
    const Reply reply = raw.command("PUBSUB", "NUMSUB", channel_of(name));
    return reply.elements.size() == 2 && reply.elements[1].integer == count;
  });
}

/// True if the key stays away for this long.
inline bool stays_absent(Raw& raw, const std::string& key, milliseconds time) {
  return !eventually([&] { return raw.exists(key); }, time);
}

/// How the server stores a hold: one field, its count always one.
inline testing::Matcher<std::map<std::string, std::string>> HeldBy(const std::string& owner) {
  return testing::ElementsAre(testing::Pair(owner, "1"));
}

/// A call in another thread. Its result, or the error it threw, is for get(); destruction waits for it.
template <class Call>
auto in_thread(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <class T>
bool ready(const std::future<T>& future, milliseconds limit = kPatience) {
  return future.wait_for(limit) == std::future_status::ready;
}

/// A server of Redis 7 that loads its data, for at least a minute unless end() is called.
class SlowLoad {
 public:
  /// What such a server is configured with.
  static std::vector<std::string> config() {
    return {"enable-debug-command yes", "loading-process-events-interval-bytes 1024"};
  }

  explicit SlowLoad(const RedisServer& server) : raw_(server) {
    raw_.command("DEBUG", "POPULATE", 60'000, "filler", 100);
    raw_.command("CONFIG", "SET", "key-load-delay", 1000);
    reload_ = in_thread([&server] { return Raw(server).command("DEBUG", "RELOAD"); });
  }
  ~SlowLoad() {
    if (reload_.valid()) raw_.command("CONFIG", "SET", "key-load-delay", 0);
  }
  SlowLoad(const SlowLoad&) = delete;
  SlowLoad& operator=(const SlowLoad&) = delete;

  bool began() {
    return eventually([&] { return raw_.command("EXISTS", "filler:0").text.starts_with("LOADING"); });
  }
  /// True if the server has loaded all and says so.
  bool end() {
    raw_.command("CONFIG", "SET", "key-load-delay", 0);
    return !reload_.get().is_error();
  }

 private:
  Raw raw_;
  std::future<Reply> reload_;
};

/// Keeps everything that the observer is told. Thread-safe.
class EventLog final : public Observer {
 public:
  /// One event: its kind, its lock, and the telling part (reason, outcome, operation, cause).
  struct Entry {
    std::string kind, name, detail;
    friend bool operator==(const Entry&, const Entry&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Entry& entry) {
      return out << entry.kind << " " << entry.name << " " << entry.detail;
    }
  };

  std::vector<Entry> entries() const {
    const std::scoped_lock guard(mutex_);
    return entries_;
  }
  /// The details of all events of this kind, in order; of one lock, if a name is given.
  std::vector<std::string> details(const std::string& kind, const std::string& name = {}) const {
    std::vector<std::string> found;
    for (const Entry& entry : entries()) {
      if (entry.kind == kind && (name.empty() || entry.name == name)) found.push_back(entry.detail);
    }
    return found;
  }
  std::size_t count(const std::string& kind, const std::string& name = {}) const { return details(kind, name).size(); }
  bool wait_for(const std::string& kind, std::size_t times = 1, milliseconds limit = kPatience) const {
    return eventually([&] { return count(kind) >= times; }, limit);
  }

  void on_granted(const GrantedEvent& e) override { add("granted", e.name, e.contended ? "contended" : "free"); }
  void on_renewed(const RenewedEvent& e) override { add("renewed", {}, std::to_string(e.holds)); }
  void on_suspect(const SuspectEvent& e) override { add("suspect", e.name, e.cause); }
  void on_lost(const LostEvent& e) override { add("lost", e.name, to_string(e.reason)); }
  void on_released(const ReleasedEvent& e) override { add("released", e.name, to_string(e.outcome)); }
  void on_unknown(const UnknownEvent& e) override {
    add("unknown", e.name, std::string(to_string(e.operation)) + ": " + e.cause);
  }
  void on_misuse(const MisuseEvent& e) override { add("misuse", e.name, e.cause); }
  void on_safety_poll(const SafetyPollEvent& e) override { add("poll", e.name, e.granted ? "granted" : "busy"); }
  void on_connection(const ConnectionEvent& e) override { add(e.connected ? "up" : "down", e.node, e.cause); }

 private:
  void add(std::string kind, std::string name, std::string detail) {
    const std::scoped_lock guard(mutex_);
    entries_.push_back({std::move(kind), std::move(name), std::move(detail)});
  }

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_
};

/// A server, a look at it, and clients with quick settings whose events are kept.
class Faults : public testing::Test {
 protected:
  explicit Faults(ServerOptions options = {}) : server(std::move(options)), raw(server) {}

  Config config() const { return config(server.url()); }
  Config config(const std::string& url) const {
    Config config = quick_config(url);
    config.observer = log;
    return config;
  }

  RedisServer server;
  Raw raw;
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

}  // namespace holdfast::test
