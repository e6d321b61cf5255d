// SPDX-License-Identifier: Apache-2.0
// One acquire as a story: events at literal times in, the machine's answer in words out. The whole story is told again
// when a test fails.
#pragma once

#include <iostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine {

using namespace std::chrono_literals;

/// The defaults of a client, with the jitter at its lower end: the safety poll comes after 1 s.
inline AcquireTerms unlimited() { return {.command_timeout = 3s, .patience = 15s, .safety_poll = 2s, .jitter = 0}; }
inline AcquireTerms limited(Duration wait) {
  AcquireTerms terms = unlimited();
  terms.wait = wait;
  return terms;
}
inline AcquireTerms once() {
  AcquireTerms terms = unlimited();
  terms.once = true;
  return terms;
}

inline Attempt granted() { return {.kind = Attempt::Kind::granted}; }
/// The lock is somebody else's, and the channel was subscribed before the server looked.
inline Attempt busy(milliseconds busy_for) {
  return {.kind = Attempt::Kind::busy, .busy_for = busy_for, .subscribed = true};
}
inline Attempt busy_unsubscribed(milliseconds busy_for) { return {.kind = Attempt::Kind::busy, .busy_for = busy_for}; }
inline Attempt refused(Errc error, std::string cause) {
  return {.kind = Attempt::Kind::refused, .error = error, .cause = std::move(cause)};
}
inline Attempt failed(Errc error, std::string cause) {
  return {.kind = Attempt::Kind::failed, .error = error, .cause = std::move(cause)};
}
inline Attempt transient(std::string cause) {
  return {.kind = Attempt::Kind::transient, .error = Errc::server_error, .cause = std::move(cause)};
}
inline Attempt not_sent(std::string cause) {
  return {.kind = Attempt::Kind::not_sent, .error = Errc::unreachable, .cause = std::move(cause)};
}
inline Attempt pointless(Errc error, std::string cause) {
  return {.kind = Attempt::Kind::not_sent, .pointless = true, .error = error, .cause = std::move(cause)};
}
inline Attempt unknown(std::string cause) {
  return {.kind = Attempt::Kind::unknown, .error = Errc::unknown_outcome, .cause = std::move(cause)};
}

inline Attempt not_durable(std::string cause) {
  return {.kind = Attempt::Kind::not_durable, .error = Errc::durability_not_met, .cause = std::move(cause)};
}

constexpr TargetView kCold{};                      // no subscription, nothing held by this client
constexpr TargetView kWarm{.subscribed = true};    // the wake channel is subscribed
constexpr TargetView kHeldHere{.held_here = true,  // another caller of this client has the lock
                               .subscribed = false};

/// The machine, told in words. Every call returns what the machine wants next.
class AcquireStory {
 public:
  explicit AcquireStory(AcquireTerms terms) : fsm_(terms, kStart) {}
  AcquireStory(const AcquireStory&) = delete;
  AcquireStory& operator=(const AcquireStory&) = delete;
  ~AcquireStory() {
    if (testing::Test::HasFailure()) std::cerr << "The whole story:\n" << told_;
  }

  std::string start() { return tell(0ms, "start", fsm_.start()); }
  std::string turn(Duration now, TargetView view = kCold) { return tell(now, "turn", fsm_.on_turn(at(now), view)); }
  std::string wake(Duration now, TargetView view = kCold) { return tell(now, "wake", fsm_.on_wake(at(now), view)); }
  std::string message(Duration now, TargetView view = kWarm) {
    return tell(now, "message", fsm_.on_message(at(now), view));
  }
  std::string found_busy(Duration now, TargetView view) { return tell(now, "busy", fsm_.on_busy(at(now), view)); }
  std::string time(Duration now, TargetView view = kCold) { return tell(now, "time", fsm_.on_time(at(now), view)); }
  std::string reply(Duration now, const Attempt& attempt) {
    return tell(now, "reply: " + name(attempt), fsm_.on_attempt(at(now), attempt));
  }
  std::string stop(Duration now, Errc why = Errc::cancelled) { return tell(now, "stop", fsm_.on_stop(why)); }

  /// A first attempt that finds the lock free of trouble but taken, and the one with a subscription behind it: now the
  /// machine waits.
  std::string wait_behind_somebody(milliseconds busy_for) {
    start();
    turn(0ms);
    reply(0ms, busy_unsubscribed(busy_for));
    return reply(0ms, busy(busy_for));
  }

  const AcquireFsm& fsm() const { return fsm_; }

 private:
  static std::string name(const Attempt& attempt) {
    using Kind = Attempt::Kind;
    switch (attempt.kind) {
      case Kind::granted:
        return "granted";
      case Kind::busy:
        return "busy for " + std::to_string(attempt.busy_for.count()) + "ms" +
               (attempt.subscribed ? ", subscribed" : "");
      case Kind::refused:
        return "refused, " + attempt.cause;
      case Kind::failed:
        return "failed, " + attempt.cause;
      case Kind::transient:
        return "transient, " + attempt.cause;
      case Kind::not_sent:
        return std::string("not sent") + (attempt.pointless ? " and pointless, " : ", ") + attempt.cause;
      case Kind::unknown:
        return "unknown, " + attempt.cause;
      case Kind::not_durable:
        return "not durable, " + attempt.cause;
    }
    return "?";
  }

  std::string tell(Duration now, const std::string& event, const AcquireAction& action) {
    told_ += "  " + text(now) + "  " + event + "  ->  " + text(action) + "\n";
    return text(action);
  }

  AcquireFsm fsm_;
  std::string told_;
};

}  // namespace holdfast::engine
