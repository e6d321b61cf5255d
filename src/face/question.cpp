#include "face/question.hpp"

#include "wire/server_calls.hpp"

namespace holdfast::face {

using Replies = std::vector<base::Reply>;

Question<bool> is_locked(const engine::Site& site) {
  return {site.name(), {site.plan().questions.count(site.names().key)}, [](const Replies& replies) {
            return replies.front().integer > 0;
          }};
}

Question<bool> is_held_by(const engine::Site& site, const std::string& owner) {
  return {
      site.name(),
      {site.plan().questions.ask_owner(site.names().key, owner)},
      [&plan = site.plan(), owner](const Replies& replies) { return plan.questions.is_owner(replies.front(), owner); }};
}

Question<std::optional<std::chrono::milliseconds>> remaining(const engine::Site& site) {
  return {site.name(), {wire::remaining(site.names().key)}, [](const Replies& replies) {
            return wire::time_left(replies.front());
          }};
}

Question<bool> force_release(const engine::Site& site) {
  return {site.name(), {site.plan().transitions.force_release(site.names())}, [](const Replies& replies) {
            return replies.front().integer == 1;
          }};
}

Question<bool> force_release(const engine::Site& site, const std::string& owner) {
  // Compare, delete and tell: what the owner's own release does, which may come at any time.
  return {site.name(),
          {site.return_command(engine::Site::Returned::hold, {owner}, engine::kLongestLease)},
          [&plan = site.plan()](const Replies& replies) {
            return plan.transitions.decode_release(replies.front()).has_value();
          }};
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
  runtime_->send(
      {commands(), runtime_->config().command_timeout, {}}, [self = shared_from_this()](redis::Result result) {
        bool more = false;
        try {
          more = self->answered(engine::replies(*self->runtime_, std::move(result), self->name(), self->errors()));
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
