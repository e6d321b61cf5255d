#include "face/question.hpp"

#include "wire/lock_calls.hpp"

namespace holdfast::face {

using Replies = std::vector<base::Reply>;

Question<bool> is_locked(const engine::Site& site) {
  return {site.name(), {site.plan().count(site.names().key)}, [](const Replies& replies) {
            return replies.front().integer > 0;
          }};
}

Question<bool> is_held_by(const engine::Site& site, const std::string& owner) {
  return {site.name(),
          {site.plan().ask_owner(site.names().key, owner)},
          [&plan = site.plan(), owner](const Replies& replies) { return plan.is_owner(replies.front(), owner); }};
}

Question<std::optional<std::chrono::milliseconds>> remaining(const engine::Site& site) {
  return {site.name(), {wire::remaining(site.names().key)}, [](const Replies& replies) {
            return wire::time_left(replies.front());
          }};
}

Question<bool> force_release(const engine::Site& site) {
  return {site.name(), {site.plan().force_release(site.names())}, [](const Replies& replies) {
            return replies.front().integer == 1;
          }};
}

Question<bool> force_release(const engine::Site& site, const std::string& owner) {
  // Compare, delete and tell: what the owner's own release does.
  return {site.name(), {site.release_command({owner})}, [&plan = site.plan()](const Replies& replies) {
            return plan.decode_release(replies.front()).has_value();
          }};
}

void AsyncAsk::start() {
  pending_ = core_->pending().begin();  // close() waits until it is sent, or its flag is seen now
  if (const std::error_code error = core_->unusable()) {
    pending_ = {};
    return failed(Error(static_cast<Errc>(error.value()), name(), core_->node(), {}));
  }
  attended_ = engine::Loop::Attended(core_->loop());
  core_->loop().post(shared_from_this());
}

void AsyncAsk::run() {
  core_->send({commands(), core_->config().command_timeout, {}}, [self = shared_from_this()](redis::Result result) {
    bool more = false;
    try {
      more = self->answered(self->core_->replies(std::move(result), self->name(), self->errors()));
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
    failed(Error(Errc::exhausted, name(), core_->node(), {}));
  } catch (...) {
    // Out of memory: the receiver is dropped.
  }
  attended_ = {};
  pending_ = {};
}

}  // namespace holdfast::face
