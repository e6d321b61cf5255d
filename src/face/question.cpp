#include "face/question.hpp"

#include <new>
#include <stdexcept>

#include "wire/fenced_calls.hpp"
#include "wire/server_calls.hpp"

namespace holdfast::face {

using Replies = std::vector<base::Reply>;

Question<bool> is_locked(const engine::KeyTarget& target) {
  return {target.name(),
          {target.plan().questions.holder(target.names().key)},
          [&plan = target.plan()](const Replies& replies) {
            return !engine::decode_holders(plan.questions, replies.front()).empty();
          }};
}

Question<bool> is_held_by(const engine::KeyTarget& target, const wire::Owner& owner) {
  const engine::Questions& questions = target.plan().questions;
  return {target.name(),
          {questions.ask_owner(engine::owners_key(questions, target.names().key), owner)},
          [&plan = target.plan(), owner](const Replies& replies) {
            const std::optional<bool> is_owner = plan.questions.is_owner(replies.front(), owner);
            if (!is_owner) throw std::runtime_error("it says neither yes nor no");
            return *is_owner;
          }};
}

Question<std::optional<std::chrono::milliseconds>> remaining(const engine::KeyTarget& target) {
  return {target.name(), {wire::remaining(target.names().key)}, [](const Replies& replies) {
            return wire::time_left(replies.front());
          }};
}

Question<std::int64_t> latest_token(const engine::KeyTarget& target) {
  return {target.name(), {wire::fenced::latest_token(target.names().key)}, [](const Replies& replies) {
            const std::optional<std::int64_t> token = wire::fenced::decode_latest_token(replies.front());
            if (!token) throw std::runtime_error("the token is no number");
            return *token;
          }};
}

Question<bool> force_release(const engine::KeyTarget& target, const std::optional<wire::Owner>& owner) {
  return {target.name(),
          {target.plan().transitions.force_release(target.names(), owner, target.publish())},
          [](const Replies& replies) {
            if (!replies.front().is_integer()) throw std::runtime_error("it says neither yes nor no");
            return replies.front().integer == 1;
          },
          target.sharded_channels()};
}

Error error_in_reading(const engine::Runtime& runtime, const std::string& name) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Errc::exhausted, name, runtime.node(), {}};
  } catch (const std::exception& error) {
    return {Errc::server_error, name, runtime.node(), std::string("its reply makes no sense: ") + error.what()};
  } catch (...) {
    return {Errc::server_error, name, runtime.node(), "its reply makes no sense"};
  }
}

void AsyncAsk::start() {
  engine::Runtime::Admission admission = runtime_->admit();  // until it is sent
  if (admission.refused) {
    return failed(Error(static_cast<Errc>(admission.refused.value()), name_, runtime_->node(), {}));
  }
  pending_ = std::move(admission.token);
  attended_ = engine::Loop::Attended(runtime_->loop());
  runtime_->loop().post(shared_from_this());
}

void AsyncAsk::run() {
  engine::send(*runtime_, inquiry(), [self = shared_from_this()](redis::Result result, const std::string& node) {
    try {
      if (self->answered(engine::replies(*self->runtime_, std::move(result), self->name_, node, self->errors()))) {
        return self->run();
      }
    } catch (...) {
      self->failed(error_in_reading(*self->runtime_, self->name_));
    }
    self->attended_ = {};
  });
  pending_ = {};
}

void AsyncAsk::broken() noexcept {
  try {
    failed(Error(Errc::exhausted, name_, runtime_->node(), {}));
  } catch (...) {
    // Out of memory: the receiver is dropped.
  }
  attended_ = {};
  pending_ = {};
}

}  // namespace holdfast::face
