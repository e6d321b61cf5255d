// SPDX-License-Identifier: Apache-2.0
// What the handles of <holdfast.h> are.
#pragma once

#include <holdfast.h>
#include <memory>
#include <string>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/semaphore.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"
#include "c/asked.hpp"
#include "c/queue.hpp"

struct hf_client {
  holdfast::Client client;
};

struct hf_stop {
  std::stop_source source;
};

/// A Hold is for one thread at a time; this one is for all. Changes follow one another, and looking at it never waits
/// for one of them.
struct hf_hold {
  /// `of`: the write lock that it is of, if so.
  hf_hold(holdfast::Hold granted, holdfast::detail::PartsPtr of);

  /// What the hold says, or what an empty one does, in a child and while it is being given back.
  template <class Question>
  auto look(Question question) const {
    if (fork.in_child()) return question(holdfast::Hold());
    const holdfast::base::Guard guard(mutex);
    return question(std::as_const(hold));
  }
  /// Gives it back by `end`, which takes a Hold&.
  template <class End>
  int end_by(End end) {
    if (fork.in_child()) throw holdfast::Error(holdfast::Errc::forked, name, {}, "the hold is the parent process's");
    const holdfast::base::Guard in_turn(changing);
    holdfast::Hold ending;
    {
      const holdfast::base::Guard guard(mutex);
      ending = std::move(hold);
    }
    const auto outcome = end(ending);
    const holdfast::base::Guard guard(mutex);
    hold = std::move(ending);  // which is empty, and knows how it ended
    return static_cast<int>(outcome);
  }
  std::shared_ptr<holdfast::engine::Claim> claim() const;
  std::shared_ptr<holdfast::c::Asked> asked();

  const holdfast::base::ForkGuard fork;
  const std::string name, owner;
  const std::int64_t token;
  const holdfast::detail::PartsPtr writer;
  holdfast::base::Mutex changing;
  mutable holdfast::base::Mutex mutex;
  holdfast::Hold hold HOLDFAST_GUARDED_BY(mutex);
  std::shared_ptr<holdfast::c::Asked> asking HOLDFAST_GUARDED_BY(mutex);
};

struct hf_semaphore {
  holdfast::Semaphore semaphore;
};

struct hf_latch {
  holdfast::Latch latch;
};

namespace holdfast::c {

/// A handle that is a reference to what is not NULL, or Error(invalid_argument).
template <class Handle>
Handle& given(Handle* handle, const char* name) {
  if (handle == nullptr) throw Error(Errc::invalid_argument, {}, {}, std::string(name) + " is NULL");
  return *handle;
}

/// Throws Error(invalid_argument) for another kind.
const FencedLock& fenced_of(const hf_lock* lock);

/// A copy for hf_text_free().
char* text_of(const std::string& text);

/// Starts it in the queue.
template <class... Results, class Make>
void start(hf_queue* queue, std::uint64_t tag, Origin origin, const Make& make) {
  given(queue, "queue").queue->template start<Results...>(tag, std::move(origin), make);
}

/// An operation that is waited for: until it has completed.
class Awaited {
 public:
  template <class Make>
  static void call(const Make& make) {
    auto waiting = std::make_shared<Awaited>();
    const detail::OperationPtr operation = make(detail::ReceiverPtr<Failure>(new Told(waiting)));
    operation->start();
    waiting->over_.wait(false);
    if (waiting->failure_) throw Error(waiting->failure_.error());
  }

 private:
  class Told final : public detail::Receiver<Failure> {
   public:
    explicit Told(std::shared_ptr<Awaited> waiting) : waiting_(std::move(waiting)) {}
    void receive(Failure failure) override {
      const std::unique_ptr<Told> self(this);
      waiting_->failure_ = std::move(failure);
      waiting_->end();
    }
    void drop() noexcept override {
      const std::unique_ptr<Told> self(this);
      waiting_->end();
    }

   private:
    const std::shared_ptr<Awaited> waiting_;
  };

  void end() noexcept {
    over_.store(true);
    over_.notify_all();
  }

  Failure failure_;
  std::atomic<bool> over_{false};
};

}  // namespace holdfast::c
