// SPDX-License-Identifier: Apache-2.0
#include "cli/trial.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "base/text.hpp"
#include "cli/at_servers.hpp"
#include "cli/console.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// If it cannot be released, it becomes free after this; the trial does not wait for that.
constexpr milliseconds kLease = 5s;
constexpr milliseconds kLongestWait = 4s;
/// Time for the waiter to subscribe after it has found the lock taken.
constexpr milliseconds kSubscribing = 200ms;
/// A waiter that is woken gets it within a round trip. Otherwise it polls a second or two later.
constexpr milliseconds kLate = 800ms;

constexpr const char* kAcquireCalls = "PTTL, HEXISTS, HSET, PEXPIRE";
constexpr const char* kReleaseCalls = "HDEL, PUBLISH";
constexpr const char* kPermissions =
    "docs/least-acl.acl has the permissions that a lock needs; `permissions` and `names` above, which of them are "
    "missing";

/// Records why a release has no outcome.
class Causes final : public Observer {
 public:
  void on_unknown(const UnknownEvent& event) override {
    const std::lock_guard guard(mutex_);
    cause_ = event.cause;
  }
  std::string cause() const {
    const std::lock_guard guard(mutex_);
    return cause_;
  }

 private:
  mutable std::mutex mutex_;
  std::string cause_;
};

Config trying(Config config, std::shared_ptr<Observer> observer) {
  config.observer = std::move(observer);
  config.timing.patience = std::min(config.timing.patience, kLongestWait);
  return config;
}

class Trial {
 public:
  Trial(const Config& config, std::string name)
      : name_(std::move(name)),
        causes_(std::make_shared<Causes>()),
        taker_(trying(config, causes_)),
        waiter_(trying(config, nullptr)) {
    finding_.id = "try";
  }

  Finding carry_out() {
    MaybeHold hold;
    try {
      hold = taker_.lock(name_).try_acquire({.lease = fixed(kLease)});
      if (!hold) return is(Severity::warning, "is busy, so it was not tried: " + holder(), "another name, or later");
    } catch (const Error& error) {
      return refused("could not be taken", error, kAcquireCalls);
    }
    auto waiting = std::async(std::launch::async, [this] { return wait(); });
    let_it_wait(waiting);
    const auto given_back = steady_clock::now();
    const ReleaseOutcome outcome = hold->release();
    const Waited waited = waiting.get();
    if (outcome != ReleaseOutcome::released) {
      const std::string cause = causes_->cause();
      return is(Severity::danger,
                fmt::format("was taken and not given back ({}{}{}): it stays taken for {}; to release it calls {}",
                            to_string(outcome), cause.empty() ? "" : ": ", cause, in_words(kLease), kReleaseCalls),
                kPermissions);
    }
    if (waited.error) return refused("could not be waited for", *waited.error, "SUBSCRIBE");
    if (!waited.granted || waited.at - given_back > kLate) {
      return is(Severity::warning, "was given back, and who waited was not woken: it asks now and then instead",
                "SUBSCRIBE and PUBLISH reach each other? Perhaps a proxy is in between");
    }
    return is(Severity::ok, "was taken, waited for, and given back", "");
  }

 private:
  struct Waited {
    bool granted = false;
    steady_clock::time_point at{};
    std::optional<Error> error{};
  };

  Waited wait() {
    try {
      const MaybeHold hold = waiter_.lock(name_).try_acquire({.wait = kLongestWait, .lease = fixed(kLease)});
      return {.granted = hold.has_value(), .at = steady_clock::now()};
    } catch (const Error& error) {
      return {.error = error};
    }
  }

  /// Waits until it has found the lock taken and had time to subscribe, or has ended.
  void let_it_wait(const std::future<Waited>& waiting) const {
    const auto limit = steady_clock::now() + 1s;
    while (waiter_.counters().waiting == 0 && steady_clock::now() < limit) {
      if (waiting.wait_for(5ms) == std::future_status::ready) return;
    }
    waiting.wait_for(kSubscribing);
  }

  std::string holder() {
    try {
      const LockInfo info = taker_.lock(name_).info();
      return info.owner.empty() ? "somebody had it a moment ago" : "held by " + holder_in_words(info);
    } catch (const Error& error) {
      return in_words(error);
    }
  }

  Finding refused(const char* what, const Error& error, const char* calls) {
    const bool denied = error.code() == Errc::denied;
    return is(
        Severity::danger,
        fmt::format("{}: {}{}{}", what, in_words(error), denied ? "; for that it calls " : "", denied ? calls : ""),
        denied ? kPermissions : "");
  }

  Finding is(Severity severity, std::string_view text, const char* advice) {
    finding_.severity = severity;
    finding_.text = for_log(fmt::format("lock {} {}", base::quote(name_), text));
    finding_.advice = advice;
    return finding_;
  }

  const std::string name_;
  const std::shared_ptr<Causes> causes_;
  Client taker_;
  Client waiter_;
  Finding finding_;
};

}  // namespace

Finding try_lock(const Config& config, const std::string& name) { return Trial(config, name).carry_out(); }

}  // namespace holdfast::cli
