// SPDX-License-Identifier: Apache-2.0
// The faces of the library that a taker can use, and what its commands mean in each: here those that block.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "taker_locks.hpp"
#include "taker_releases.hpp"
#include "taker_thread.hpp"

namespace holdfast::test {

inline std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

/// Thread-safe; a call with a thread comes from that thread.
class TakerFace {
 public:
  using Told = TakerReleases::Told;

  TakerFace() = default;
  virtual ~TakerFace() = default;
  TakerFace(const TakerFace&) = delete;
  TakerFace& operator=(const TakerFace&) = delete;

  virtual Client make_client(Config config) { return Client(std::move(config)); }
  virtual void close(Client& client) { client.close(); }

  /// False: somebody else has the lock, and the options wait no longer. May also throw Error(timed_out) then.
  virtual bool enter(TakerLocks& locks, TakerThread& thread, const std::string& name, AcquireOptions options) = 0;
  /// Gives it back and tells the outcome. With `releases` as the end of a guard does, which does not wait: it is told
  /// when it is known.
  virtual void leave(TakerLocks& locks, TakerThread& thread, const std::string& name, TakerReleases* releases,
                     Told told) = 0;
  /// What costs no command: the thread's own view of its hold.
  virtual std::string query(TakerLocks& locks, TakerThread& thread, const std::string& name,
                            const std::string& verb) = 0;

  /// What rounds ask of the hold that the thread has. The loss's reason is `-` if there is none, and empty if this face
  /// does not say it.
  virtual std::string owner(TakerLocks& locks, TakerThread& thread, const std::string& name) = 0;
  virtual std::stop_token lost(TakerLocks& locks, TakerThread& thread, const std::string& name) = 0;
  virtual std::chrono::milliseconds valid_for(TakerLocks& locks, TakerThread& thread, const std::string& name) = 0;
  /// Of kinds that have one.
  virtual std::optional<std::int64_t> token(TakerLocks& locks, TakerThread& thread, const std::string& name) = 0;
  virtual std::string loss_reason(TakerThread& thread, const std::string& name) = 0;
  /// Of any one of several locks, which it was.
  virtual std::string granted(TakerThread&, const std::string& name) {
    throw std::invalid_argument("this face does not say which: " + name);
  }

  virtual bool force_release(KeyLock lock) { return lock.force_release(); }
  virtual bool is_locked(KeyLock lock) { return lock.is_locked(); }
  virtual std::optional<std::chrono::milliseconds> remaining(KeyLock lock) { return lock.remaining(); }
};

/// The thread is the owner.
class StdFace final : public TakerFace {
 public:
  bool enter(TakerLocks& locks, TakerThread& thread, const std::string& name, AcquireOptions options) override {
    BasicLock lock = locks.lock_of(name, thread)
                         .with({.wait = options.wait,
                                .lease = options.lease,
                                .max_hold = options.max_hold,
                                .acks = options.acks,
                                .stop = options.stop,
                                .on_lost = options.on_lost,
                                .max_waiters = options.max_waiters});
    if (options.wait && options.wait->count() <= 0) return lock.try_lock();
    lock.lock();
    return true;
  }
  void leave(TakerLocks& locks, TakerThread& thread, const std::string& name, TakerReleases* releases,
             Told told) override {
    BasicLock& lock = locks.lock_of(name, thread);
    // Who still has it, as a reader perhaps, is told of no release.
    const auto reader = thread.locks.find("read:" + name);
    const bool reads_on = reader != thread.locks.end() && reader->second.this_thread().is_holding();
    if (releases == nullptr || reads_on || lock.this_thread().hold_count() != 1)
      return told(to_string(lock.this_thread().release()));
    releases->expect(lock.name(), "", std::move(told));
    lock.unlock();
  }
  std::string query(TakerLocks& locks, TakerThread& thread, const std::string& name, const std::string& verb) override {
    const BasicLock& lock = locks.lock_of(name, thread);
    if (verb == "mine") return yes_or_no(lock.this_thread().is_holding());
    if (verb == "count") return std::to_string(lock.this_thread().hold_count());
    if (verb == "valid") return std::to_string(lock.this_thread().valid_for().count());
    if (verb == "lost") return yes_or_no(lock.this_thread().lost_token().stop_requested());
    throw std::invalid_argument("no such command: " + verb);
  }

  std::string owner(TakerLocks& locks, TakerThread&, const std::string&) override {
    return locks.client().id() + ":" + thread_id();
  }
  std::stop_token lost(TakerLocks& locks, TakerThread& thread, const std::string& name) override {
    return locks.lock_of(name, thread).this_thread().lost_token();
  }
  std::chrono::milliseconds valid_for(TakerLocks& locks, TakerThread& thread, const std::string& name) override {
    return locks.lock_of(name, thread).this_thread().valid_for();
  }
  std::optional<std::int64_t> token(TakerLocks& locks, TakerThread& thread, const std::string& name) override {
    return locks.lock_of(name, thread).this_thread().token();
  }
  std::string loss_reason(TakerThread&, const std::string&) override { return ""; }

 private:
  static std::string thread_id() {
    std::ostringstream text;
    text << "thread " << std::this_thread::get_id();
    return text.str();
  }
};

/// The hold is the owner; the thread keeps it.
class HoldFace : public TakerFace {
 public:
  bool enter(TakerLocks& locks, TakerThread& thread, const std::string& name, AcquireOptions options) final {
    std::optional<Hold> hold = acquire(locks.lock_of(name), std::move(options));
    if (!hold) return false;
    thread.holds[name] = std::move(*hold);
    return true;
  }
  void leave(TakerLocks& locks, TakerThread& thread, const std::string& name, TakerReleases* releases,
             Told told) final {
    auto held = thread.holds.extract(name);
    if (!held || !held.mapped()) throw Error(Errc::not_owner, name, locks.client().node(), "this thread has no hold");
    std::string& reason = thread.loss_reasons[name];
    reason = reason_of(held.mapped());
    if (releases != nullptr) {
      return releases->expect(held.mapped().name(), held.mapped().owner(), std::move(told));  // and here the hold ends
    }
    const char* const outcome = to_string(release(held.mapped()));
    // A hold that was released asynchronously does not know any more.
    if (reason == "-") reason = reason_of(held.mapped());
    told(outcome);
  }
  std::string query(TakerLocks&, TakerThread& thread, const std::string& name, const std::string& verb) final {
    const Hold& hold = thread.holds[name];
    const bool open = hold && hold.state() != HoldState::lost;
    if (verb == "mine") return yes_or_no(open);
    if (verb == "count") return open ? "1" : "0";
    if (verb == "valid") return std::to_string(hold.valid_for().count());
    if (verb == "lost") return yes_or_no(hold.lost_token().stop_requested());
    throw std::invalid_argument("no such command: " + verb);
  }

  std::string owner(TakerLocks&, TakerThread& thread, const std::string& name) final {
    return thread.holds[name].owner();
  }
  std::stop_token lost(TakerLocks&, TakerThread& thread, const std::string& name) final {
    return thread.holds[name].lost_token();
  }
  std::chrono::milliseconds valid_for(TakerLocks&, TakerThread& thread, const std::string& name) final {
    return thread.holds[name].valid_for();
  }
  std::optional<std::int64_t> token(TakerLocks&, TakerThread& thread, const std::string& name) final {
    return thread.holds[name].token();
  }
  std::string loss_reason(TakerThread& thread, const std::string& name) final { return thread.loss_reasons[name]; }
  std::string granted(TakerThread& thread, const std::string& name) final { return thread.holds[name].name(); }

 private:
  static std::string reason_of(const Hold& hold) {
    const auto reason = hold.loss_reason();
    return reason ? to_string(*reason) : "-";
  }

  /// As `enter`.
  virtual std::optional<Hold> acquire(BasicLock lock, AcquireOptions options) { return lock.acquire(options); }
  virtual ReleaseOutcome release(Hold& hold) { return hold.release(); }
};

}  // namespace holdfast::test
