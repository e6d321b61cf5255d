// SPDX-License-Identifier: Apache-2.0
// Leader, used by a taker as a lock: the body of a term lasts from when it is entered to when it is left.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/leader.hpp>

#include "taker_face.hpp"
#include "taker_locks.hpp"
#include "taker_thread.hpp"
#include "taker_way.hpp"

namespace holdfast::test {

/// The term that a thread has.
class TakerTerm {
 public:
  TakerTerm() = default;
  virtual ~TakerTerm() = default;
  TakerTerm(const TakerTerm&) = delete;
  TakerTerm& operator=(const TakerTerm&) = delete;

  virtual const Term& term() const = 0;
  /// Stops if the lock is lost, and not if the body is only asked to end.
  virtual std::stop_token lost() const = 0;
  /// Its body is done. True if the lock was lost, as far as that is known.
  virtual bool end() = 0;
};

/// One by itself, whose body waits on a thread of its own.
class SingleTerm final : public TakerTerm {
 public:
  /// Returns when the body runs; throws what Leader::lead throws. The stop of the options ends the wait only.
  SingleTerm(FencedLock lock, AcquireOptions options) : leader_(std::move(lock)) {
    std::stop_source waiting;
    const std::stop_callback when_stopped(options.stop, [&] { waiting.request_stop(); });
    options.stop = waiting.get_token();
    ended_ = std::async(std::launch::async, [this, options = std::move(options)] { return lead(options); });
    if (const std::optional<Error> error = began_.get_future().get()) throw Error(*error);
  }
  ~SingleTerm() override {
    if (ended_.valid()) end();
  }

  const Term& term() const override { return *term_; }
  std::stop_token lost() const override { return term_->stop_token(); }
  /// Lets the body return, and waits until the lock is given back.
  bool end() override {
    leave_.set_value();
    return ended_.get() == TermEnd::lost;
  }

 private:
  TermEnd lead(const AcquireOptions& options) {
    try {
      return leader_.lead(
          [this](const Term& term) {
            term_ = &term;
            began_.set_value(std::nullopt);
            leave_.get_future().wait();
          },
          options);
    } catch (const Error& error) {  // as a value: see AsyncFace
      began_.set_value(error);
      return TermEnd::lost;
    }
  }

  Leader leader_;
  const Term* term_ = nullptr;  // set before began_
  std::promise<std::optional<Error>> began_;
  std::promise<void> leave_;
  std::future<TermEnd> ended_;
};

/// One of a campaign; made and ended by its body.
class CampaignTerm final : public TakerTerm {
 public:
  /// `over` ends the campaign. With a time, the leader is asked to step down after that, unless the body ends first;
  /// the body need not end earlier for it.
  CampaignTerm(Leader& leader, const Term& term, std::stop_token over,
               std::optional<std::chrono::milliseconds> steps_down)
      : leader_(leader), term_(term), over_(std::move(over)) {
    if (steps_down) abandon_.emplace(down_, *steps_down);
  }

  const Term& term() const override { return term_; }
  std::stop_token lost() const override { return lost_.get_token(); }
  bool end() override {
    abandon_.reset();
    return lost_.stop_requested();
  }

 private:
  using WhenStopped = std::stop_callback<std::function<void()>>;

  Leader& leader_;
  const Term& term_;
  const std::stop_token over_;
  std::atomic<bool> asked_{false};
  std::stop_source lost_, down_;
  const WhenStopped when_stopped_{term_.stop_token(), [this] {
                                    if (!asked_ && !over_.stop_requested()) lost_.request_stop();
                                  }};
  const WhenStopped when_down_{down_.get_token(), [this] {
                                 asked_ = true;
                                 leader_.step_down();
                               }};
  std::optional<TakerAbandon> abandon_;  // goes before what it calls
};

/// The term is the owner; the thread keeps it.
class LeaderFace final : public TakerFace {
 public:
  bool enter(TakerLocks& locks, TakerThread& thread, const std::string& name, AcquireOptions options) override {
    thread.terms[name] = std::make_shared<SingleTerm>(locks.client().fenced_lock(name), std::move(options));
    return true;
  }
  /// Whether the lock was given back, Leader says only if it was lost.
  void leave(TakerLocks&, TakerThread& thread, const std::string& name, TakerReleases*, Told told) override {
    const auto held = thread.terms.extract(name);
    const bool lost = held.mapped()->end();
    thread.loss_reasons[name] = lost ? "" : "-";
    told(lost ? "was_lost" : "unknown");
  }
  std::string query(TakerLocks&, TakerThread&, const std::string&, const std::string& verb) override {
    throw std::invalid_argument("not of a leader: " + verb);
  }

  std::string owner(TakerLocks& locks, TakerThread& thread, const std::string& name) override {
    return locks.client().id() + ":" + std::to_string(term(thread, name).token());
  }
  std::stop_token lost(TakerLocks&, TakerThread& thread, const std::string& name) override {
    return thread.terms.at(name)->lost();
  }
  std::chrono::milliseconds valid_for(TakerLocks&, TakerThread& thread, const std::string& name) override {
    return term(thread, name).valid_for();
  }
  std::optional<std::int64_t> token(TakerLocks&, TakerThread& thread, const std::string& name) override {
    return term(thread, name).token();
  }
  std::string loss_reason(TakerThread& thread, const std::string& name) override { return thread.loss_reasons[name]; }

 private:
  static const Term& term(TakerThread& thread, const std::string& name) { return thread.terms.at(name)->term(); }
};

}  // namespace holdfast::test
