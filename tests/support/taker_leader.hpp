// Leader, used by a taker as a lock: the body of a term lasts from when it is entered to when it is left.
#pragma once

#include <chrono>
#include <cstdint>
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

namespace holdfast::test {

/// One term, whose body waits on a thread of its own.
class TakerTerm {
 public:
  /// Returns when the body runs; throws what Leader::lead throws. The stop of the options ends the wait only.
  TakerTerm(FencedLock lock, AcquireOptions options) : leader_(std::move(lock)) {
    std::stop_source waiting;
    const std::stop_callback when_stopped(options.stop, [&] { waiting.request_stop(); });
    options.stop = waiting.get_token();
    ended_ = std::async(std::launch::async, [this, options = std::move(options)] { return lead(options); });
    if (const std::optional<Error> error = began_.get_future().get()) throw Error(*error);
  }
  ~TakerTerm() {
    if (ended_.valid()) end();
  }
  TakerTerm(const TakerTerm&) = delete;
  TakerTerm& operator=(const TakerTerm&) = delete;

  const Term& term() const { return *term_; }
  /// Lets the body return, and waits until the lock is given back.
  TermEnd end() {
    leave_.set_value();
    return ended_.get();
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

/// The term is the owner; the thread keeps it.
class LeaderFace final : public TakerFace {
 public:
  bool enter(TakerLocks& locks, TakerThread& thread, const std::string& name, AcquireOptions options) override {
    thread.terms[name] = std::make_shared<TakerTerm>(locks.client().fenced_lock(name), std::move(options));
    return true;
  }
  /// Whether the lock was given back, Leader says only if it was lost.
  void leave(TakerLocks&, TakerThread& thread, const std::string& name, TakerReleases*, Told told) override {
    const auto held = thread.terms.extract(name);
    const bool lost = held.mapped()->end() == TermEnd::lost;
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
    return term(thread, name).stop();
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
