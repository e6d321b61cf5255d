// A query to a server with one answer, as a value that both the blocking and the asynchronous interface can send.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/detail/operation.hpp>
#include <holdfast/key_lock.hpp>

#include "base/resp.hpp"
#include "engine/hold/key_target.hpp"
#include "engine/runtime/asking.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/receiving.hpp"

namespace holdfast::face {

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

/// Sends it and waits for the answer. Throws Error.
template <class Result>
Result ask(engine::Runtime& runtime, Question<Result> question) {
  const std::vector<base::Reply> replies = engine::ask(
      runtime, {std::move(question.commands), nullptr, std::move(question.tells), question.repeated}, question.name);
  return read(runtime, question.name, [&] { return question.decode(replies); });
}

/// Sends step by step, and waits. `Steps` has `commands()`; `where()`, the server to send to, null: the one that serves
/// the key; `on_replies(replies)`, false if finished; `errors()`, whether it wants error replies; `take()`. Throws
/// Error.
template <class Steps>
auto ask_in_steps(engine::Runtime& runtime, Steps steps, const std::string& name) {
  bool more = true;
  while (more) {
    const std::vector<base::Reply> replies =
        engine::ask(runtime, {steps.commands(), steps.where()}, name, steps.errors());
    more = read(runtime, name, [&] { return steps.on_replies(replies); });
  }
  return steps.take();
}

/// Sends when started. After cancellation the receiver does not get the replies.
class AsyncAsk : public engine::Loop::Task, public detail::Operation, public std::enable_shared_from_this<AsyncAsk> {
 public:
  explicit AsyncAsk(std::shared_ptr<engine::Runtime> runtime) : runtime_(std::move(runtime)) {}

  void start() final;
  void run() final;
  void broken() noexcept final;
  void cancel() noexcept final { failed(Error(Errc::cancelled, name(), runtime_->node(), {})); }

 protected:
  virtual const std::string& name() const = 0;
  /// The first commands, then the next ones; called on the loop.
  virtual std::vector<base::Command> commands() = 0;
  virtual redis::Shard* where() const { return nullptr; }
  virtual engine::Errors errors() const { return engine::Errors::raise; }
  virtual std::vector<std::string> tells() const { return {}; }
  virtual base::Duration repeated() const { return {}; }
  /// True: there are more commands.
  virtual bool answered(std::vector<base::Reply> replies) = 0;
  virtual void failed(const Error& error) = 0;

 private:
  const std::shared_ptr<engine::Runtime> runtime_;
  engine::Pending::Token pending_;  // until it is sent
  engine::Loop::Attended attended_;
};

template <class Result>
detail::OperationPtr make_ask(const std::shared_ptr<engine::Runtime>& runtime, Question<Result> question,
                              detail::ReceiverPtr<Failure, Result> receiver) {
  class Asking final : public AsyncAsk {
   public:
    Asking(const std::shared_ptr<engine::Runtime>& its_runtime, Question<Result> what,
           detail::ReceiverPtr<Failure, Result> whom)
        : AsyncAsk(its_runtime), question_(std::move(what)), receiving_(std::move(whom)) {}

   private:
    const std::string& name() const override { return question_.name; }
    std::vector<base::Command> commands() override { return std::move(question_.commands); }
    std::vector<std::string> tells() const override { return question_.tells; }
    base::Duration repeated() const override { return question_.repeated; }
    bool answered(std::vector<base::Reply> replies) override {
      receiving_.tell({}, question_.decode(replies));
      return false;
    }
    void failed(const Error& error) override { receiving_.tell(Failure(error), {}); }
    void abandon() noexcept override { receiving_.drop(); }

    Question<Result> question_;
    Receiving<Failure, Result> receiving_;
  };
  return std::make_shared<Asking>(runtime, std::move(question), std::move(receiver));
}

/// The same step by step: see `ask_in_steps`.
template <class Steps, class Result>
detail::OperationPtr make_ask_in_steps(const std::shared_ptr<engine::Runtime>& runtime, Steps steps, std::string name,
                                       detail::ReceiverPtr<Failure, Result> receiver) {
  class Asking final : public AsyncAsk {
   public:
    Asking(const std::shared_ptr<engine::Runtime>& its_runtime, Steps what, std::string about,
           detail::ReceiverPtr<Failure, Result> whom)
        : AsyncAsk(its_runtime), steps_(std::move(what)), name_(std::move(about)), receiving_(std::move(whom)) {}

   private:
    const std::string& name() const override { return name_; }
    std::vector<base::Command> commands() override { return steps_.commands(); }
    redis::Shard* where() const override { return steps_.where(); }
    engine::Errors errors() const override { return steps_.errors(); }
    bool answered(std::vector<base::Reply> replies) override {
      if (!receiving_.waits()) return false;
      if (steps_.on_replies(replies)) return true;
      receiving_.tell({}, steps_.take());
      return false;
    }
    void failed(const Error& error) override { receiving_.tell(Failure(error), {}); }
    void abandon() noexcept override { receiving_.drop(); }

    Steps steps_;
    const std::string name_;
    Receiving<Failure, Result> receiving_;
  };
  return std::make_shared<Asking>(runtime, std::move(steps), std::move(name), std::move(receiver));
}

}  // namespace holdfast::face
