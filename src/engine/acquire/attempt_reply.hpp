// Brings the reply to an attempt to the loop of the caller that asked.
#pragma once

#include <memory>
#include <utility>

#include "engine/decide/attempt.hpp"
#include "engine/loop/loop.hpp"
#include "engine/runtime/pending.hpp"

namespace holdfast::engine {

/// If it is destroyed without having been called, the asker is notified of that. It is moved, not copied; a copy, which
/// std::function requires to be possible, has no duty to answer.
class AttemptReply {
 public:
  class Asker {
   public:
    virtual Loop& loop() const = 0;
    /// On the loop.
    virtual void on_attempt(Attempt reply) noexcept = 0;
    /// The reply was lost on its way through this process. From any thread.
    virtual void on_unanswered() noexcept = 0;

   protected:
    ~Asker() = default;
  };

  AttemptReply(std::shared_ptr<Asker> asker, Pending::Token pending)
      : asker_(std::move(asker)), pending_(std::move(pending)) {}
  AttemptReply(const AttemptReply& other) : asker_(other.asker_), pending_(other.pending_), due_(false) {}
  AttemptReply(AttemptReply&& other) noexcept
      : asker_(std::move(other.asker_)), pending_(std::move(other.pending_)), due_(std::exchange(other.due_, false)) {}
  AttemptReply& operator=(const AttemptReply&) = delete;
  ~AttemptReply() {
    if (due_) asker_->on_unanswered();
  }

  void operator()(Attempt reply) {
    Loop& loop = asker_->loop();
    if (loop.inside()) return deliver(std::move(reply));
    loop.defer([self = std::move(*this), reply = std::move(reply)]() mutable { self.deliver(std::move(reply)); });
  }

 private:
  void deliver(Attempt reply) {
    due_ = false;
    asker_->on_attempt(std::move(reply));
  }

  std::shared_ptr<Asker> asker_;
  Pending::Token pending_;
  bool due_ = true;
};

}  // namespace holdfast::engine
