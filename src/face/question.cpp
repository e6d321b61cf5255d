#include "face/question.hpp"

#include "wire/server_calls.hpp"

namespace holdfast::face {

using Replies = std::vector<base::Reply>;

Question<bool> is_locked(const engine::KeyTarget& target) {
  return {target.name(), {target.plan().questions.count(target.names().key)}, [](const Replies& replies) {
            return replies.front().integer > 0;
          }};
}

Question<bool> is_held_by(const engine::KeyTarget& target, const std::string& owner) {
  return {target.name(),
          {target.plan().questions.ask_owner(target.names().key, owner)},
          [&plan = target.plan(), owner](const Replies& replies) {
            return plan.questions.is_owner(replies.front(), owner);
          }};
}

Question<std::optional<std::chrono::milliseconds>> remaining(const engine::KeyTarget& target) {
  return {target.name(), {wire::remaining(target.names().key)}, [](const Replies& replies) {
            return wire::time_left(replies.front());
          }};
}

Question<bool> force_release(const engine::KeyTarget& target) {
  return {target.name(),
          {target.plan().transitions.force_release(target.names(), target.publish())},
          [](const Replies& replies) { return replies.front().integer == 1; },
          target.sharded_channels()};
}

Question<bool> force_release(const engine::KeyTarget& target, const std::string& owner) {
  // Compare, delete and tell: what the owner's own release does, which may come at any time.
  return {target.name(),
          {target.return_command(engine::KeyTarget::Returned::hold, {owner}, engine::kLongestLease)},
          [&plan = target.plan()](const Replies& replies) {
            return plan.transitions.decode_release(replies.front()).has_value();
          },
          target.sharded_channels()};
}

void AsyncAsk::start() {
  engine::Runtime::Admission admission = runtime_->admit();  // until it is sent
  if (admission.refused) {
    return failed(Error(static_cast<Errc>(admission.refused.value()), name(), runtime_->node(), {}));
  }
  pending_ = std::move(admission.token);
  attended_ = engine::Loop::Attended(runtime_->loop());
  runtime_->loop().post(shared_from_this());
}

void AsyncAsk::run() {
  engine::send(*runtime_, {commands(), where(), tells()},
               [self = shared_from_this()](redis::Result result, const std::string& node) {
                 bool more = false;
                 try {
                   more = self->answered(engine::replies(std::move(result), self->name(), node, self->errors()));
                 } catch (const Error& error) {
                   self->failed(error);
                 }
                 if (more) return self->run();
                 self->attended_ = {};
               });
  pending_ = {};
}

void AsyncAsk::broken() noexcept {
  try {
    failed(Error(Errc::exhausted, name(), runtime_->node(), {}));
  } catch (...) {
    // Out of memory: the receiver is dropped.
  }
  attended_ = {};
  pending_ = {};
}

}  // namespace holdfast::face
