// SPDX-License-Identifier: Apache-2.0
// Queries to servers, for the blocking and the asynchronous interface: as values, or step by step. Pure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/detail/operation.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "lock/runtime/asking.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/key_target.hpp"

namespace holdfast::face {

// ---- receivers ----

/// Thread-safe: the first report counts. A receiver that never gets one is dropped.
template <class... Results>
class Receiving {
 public:
  explicit Receiving(detail::ReceiverPtr<Results...> receiver) : receiver_(receiver.release()) {}
  ~Receiving() { drop(); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  bool waits() const { return receiver_.load() != nullptr; }
  void drop() noexcept { const detail::ReceiverPtr<Results...> untold(receiver_.exchange(nullptr)); }
  /// True for the first call.
  bool tell(Results... results) {
    detail::Receiver<Results...>* const receiver = receiver_.exchange(nullptr);
    if (receiver == nullptr) return false;
    receiver->receive(std::move(results)...);
    return true;
  }

 private:
  std::atomic<detail::Receiver<Results...>*> receiver_;
};

/// An operation whose results are known before it starts.
template <class... Results>
detail::OperationPtr make_told(detail::ReceiverPtr<Results...> receiver, std::type_identity_t<Results>... results) {
  class Told final : public detail::Operation {
   public:
    Told(detail::ReceiverPtr<Results...> whom, std::tuple<Results...> what)
        : receiving_(std::move(whom)), results_(std::move(what)) {}
    void start() override {
      std::apply([this](Results&... each) { receiving_.tell(std::move(each)...); }, results_);
    }
    void cancel() noexcept override {}
    void abandon() noexcept override { receiving_.drop(); }

   private:
    Receiving<Results...> receiving_;
    std::tuple<Results...> results_;
  };
  return std::make_shared<Told>(std::move(receiver), std::tuple<Results...>(std::move(results)...));
}

/// The operation that `make` returns, which moves the receiver on with its last step; or, if that throws an Error, one
/// that fails with it.
template <class... Results, class Make>
detail::OperationPtr make_or_tell(detail::ReceiverPtr<Failure, Results...> receiver, Make make) {
  try {
    return make(receiver);
  } catch (const Error& error) {
    return make_told<Failure, Results...>(std::move(receiver), Failure(error), Results()...);
  }
}

// ---- queries ----

/// All servers of a client that have locks, one after another. The only server, or the primaries of a cluster once the
/// map is known: the first request waits for the map. Never sends to replicas.
class InTurn {
 public:
  explicit InTurn(engine::Runtime& runtime)
      : router_(runtime.router()), known_(router_.only_shard() != nullptr), one_(known_) {}

  /// True until the first answer, which ensures that the map is known.
  bool begins() const { return !known_; }
  /// The server to send to now; null: the only one.
  redis::Shard* where() const { return one_ || begins() ? nullptr : shards_[at_]; }
  bool several() const { return !one_; }
  /// To be called after its answer. False: it was the last.
  bool next() {
    if (one_) return false;
    if (known_) return ++at_ < shards_.size();
    known_ = true;
    shards_ = router_.serving();
    return !shards_.empty();
  }

 private:
  redis::Router& router_;
  bool known_;
  const bool one_;
  std::vector<redis::Shard*> shards_;
  std::size_t at_ = 0;
};

/// Pings each of them.
class Pinging {
 public:
  explicit Pinging(engine::Runtime& runtime) : servers_(runtime) {}

  engine::Inquiry inquiry() const { return {{{{"PING"}}}, servers_.where()}; }
  bool on_replies(const std::vector<base::Reply>&) { return servers_.next(); }
  static engine::Errors errors() { return engine::Errors::raise; }
  static void take() {}

 private:
  InTurn servers_;
};

/// A query to a server with one answer, as a value that both the blocking and the asynchronous interface can send.
template <class Result>
struct Question {
  std::string name;  // the lock's name, for errors
  std::vector<base::Command> commands;
  std::function<Result(const std::vector<base::Reply>&)> decode;
  std::vector<std::string> tells{};  // see redis::Request
  base::Duration repeated{};         // see engine::Inquiry
};

Question<bool> is_locked(const engine::KeyTarget& target);
Question<bool> is_held_by(const engine::KeyTarget& target, const wire::Owner& owner);
Question<std::int64_t> latest_token(const engine::KeyTarget& target);
Question<std::optional<std::chrono::milliseconds>> remaining(const engine::KeyTarget& target);
/// How many have heard it.
Question<std::size_t> ask_release(const engine::KeyTarget& target);
/// From this owner; without one, from any owner.
Question<bool> force_release(const engine::KeyTarget& target, const std::optional<wire::Owner>& owner = {});

/// The exception in flight, thrown while reading replies, as an Error: a reply may contain anything, and the caller
/// must get an answer.
Error error_in_reading(const engine::Runtime& runtime, const std::string& name);

/// Reads replies and converts exceptions in this way; throws only Error.
template <class Read>
auto read(const engine::Runtime& runtime, const std::string& name, Read reading) {
  try {
    return reading();
  } catch (...) {
    throw error_in_reading(runtime, name);
  }
}

/// A question as steps (see `ask_in_steps`), of which it has one.
template <class Result>
class OneStep {
 public:
  explicit OneStep(Question<Result> question) : question_(std::move(question)) {}

  engine::Inquiry inquiry() {
    return {std::move(question_.commands), nullptr, std::move(question_.tells), question_.repeated};
  }
  static engine::Errors errors() { return engine::Errors::raise; }
  bool on_replies(const std::vector<base::Reply>& replies) {
    answer_ = question_.decode(replies);
    return false;
  }
  Result take() { return *std::move(answer_); }

 private:
  Question<Result> question_;
  std::optional<Result> answer_;
};

/// Sends step by step, and waits. `Steps` has `inquiry()`, what to send next and where; `errors()`, whether it wants
/// error replies; `on_replies(replies)`, false if finished; `take()`. Throws Error.
template <class Steps>
auto ask_in_steps(engine::Runtime& runtime, Steps steps, const std::string& name) {
  bool more = true;
  while (more) {
    const std::vector<base::Reply> replies = engine::ask(runtime, steps.inquiry(), name, steps.errors());
    more = read(runtime, name, [&] { return steps.on_replies(replies); });
  }
  return steps.take();
}

/// The same for a single question.
template <class Result>
Result ask(engine::Runtime& runtime, Question<Result> question) {
  const std::string name = question.name;
  return ask_in_steps(runtime, OneStep(std::move(question)), name);
}

/// Sends when started. After cancellation the receiver does not get the replies.
class AsyncAsk : public engine::Loop::Task, public detail::Operation, public std::enable_shared_from_this<AsyncAsk> {
 public:
  AsyncAsk(std::shared_ptr<engine::Runtime> runtime, std::string name)
      : runtime_(std::move(runtime)), name_(std::move(name)) {}

  void start() final;
  void run() final;
  void broken() noexcept final;
  void cancel() noexcept final { failed(Error(Errc::cancelled, name_, runtime_->node(), {})); }

 protected:
  /// The first commands, then the next ones; called on the loop.
  virtual engine::Inquiry inquiry() = 0;
  virtual engine::Errors errors() const = 0;
  /// True: there are more commands.
  virtual bool answered(const std::vector<base::Reply>& replies) = 0;
  virtual void failed(const Error& error) = 0;

 private:
  const std::shared_ptr<engine::Runtime> runtime_;
  const std::string name_;
  engine::Pending::Token pending_;  // until it is sent
  engine::Loop::Attended attended_;
};

/// As ask_in_steps(), without blocking.
template <class Steps, class... Results>
detail::OperationPtr make_ask_in_steps(const std::shared_ptr<engine::Runtime>& runtime, Steps steps, std::string name,
                                       detail::ReceiverPtr<Failure, Results...> receiver) {
  class Asking final : public AsyncAsk {
   public:
    Asking(const std::shared_ptr<engine::Runtime>& its_runtime, Steps what, std::string about,
           detail::ReceiverPtr<Failure, Results...> whom)
        : AsyncAsk(its_runtime, std::move(about)), steps_(std::move(what)), receiving_(std::move(whom)) {}

   private:
    engine::Inquiry inquiry() override { return steps_.inquiry(); }
    engine::Errors errors() const override { return steps_.errors(); }
    bool answered(const std::vector<base::Reply>& replies) override {
      if (!receiving_.waits()) return false;
      if (steps_.on_replies(replies)) return true;
      if constexpr (sizeof...(Results) == 0) {
        receiving_.tell({});
      } else {
        receiving_.tell({}, steps_.take());
      }
      return false;
    }
    void failed(const Error& error) override { receiving_.tell(Failure(error), Results()...); }
    void abandon() noexcept override { receiving_.drop(); }

    Steps steps_;
    Receiving<Failure, Results...> receiving_;
  };
  return std::make_shared<Asking>(runtime, std::move(steps), std::move(name), std::move(receiver));
}

/// As ask(), without blocking.
template <class Result>
detail::OperationPtr make_ask(const std::shared_ptr<engine::Runtime>& runtime, Question<Result> question,
                              detail::ReceiverPtr<Failure, Result> receiver) {
  std::string name = question.name;
  return make_ask_in_steps(runtime, OneStep(std::move(question)), std::move(name), std::move(receiver));
}

/// Sets the holders as reported by the server; `remaining` is the key's time to live.
void set_holders(LockInfo& info, std::vector<wire::Held> holders, std::optional<std::chrono::milliseconds> remaining);

/// Sets the waiters as reported by the server.
void set_queue(LockInfo& info, wire::Line line);

/// Identifies the holders and waiters of some locks: INFO, if the detail depends on it, and CLIENT LIST. Nothing for
/// free locks. What the server refuses stays unknown.
class AskHolders {
 public:
  /// `some`: a holder may be connected to other servers, so having no connection here proves nothing.
  AskHolders(InfoDetail detail, bool some) : detail_(detail), some_(some) {}

  /// False: there is nothing to ask, since nobody has these locks or waits for them.
  bool begin(std::span<const LockInfo> locks) const;
  std::vector<base::Command> commands() const;
  /// Takes the replies to those commands, including errors. False: finished.
  bool on_replies(const std::vector<base::Reply>& replies, std::span<LockInfo> locks);

 private:
  InfoDetail detail_;
  bool some_;
};

/// One lock: its key, then its holder.
class Looking {
 public:
  Looking(const engine::KeyTarget& target, InfoDetail detail);

  engine::Inquiry inquiry() const { return {commands(), where()}; }
  bool on_replies(const std::vector<base::Reply>& replies);
  /// The listeners, the latest token and the holder's connection may be refused.
  engine::Errors errors() const;
  LockInfo take() { return std::move(info_); }

 private:
  std::vector<base::Command> commands() const;
  /// Connections are listed on the server that has the key.
  redis::Shard* where() const;
  bool asks_who_listens() const { return detail_ != InfoDetail::owner && !channel_.empty(); }
  bool asks_for_token() const { return detail_ != InfoDetail::owner && plan_.questions.latest_token != nullptr; }
  bool asks_who_waits() const { return detail_ != InfoDetail::owner && plan_.questions.line != nullptr; }

  redis::Router& router_;  // the asking client's
  const engine::Plan& plan_;
  const std::string key_;
  const std::string channel_;  // on which all waiters listen; empty: there is none
  const bool sharded_;
  const InfoDetail detail_;
  AskHolders holders_;
  bool key_known_ = false;
  LockInfo info_;
};

}  // namespace holdfast::face
