// SPDX-License-Identifier: Apache-2.0
// Blocking calls, made on threads of their own so that the loop does not wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include "base/guarded.hpp"

namespace holdfast::redis {

/// Counts the threads of one kind that run in this process; after a fork, those of the parent do not count.
class AsideCount {
 public:
  explicit constexpr AsideCount(int most) : most_(most) {}
  bool enter();
  void leave() { under_way_.fetch_sub(1); }

 private:
  const int most_;
  std::atomic<int> under_way_{0};
  std::atomic<std::uint32_t> generation_{0};
};

/// Calls the user's code. Returns what it threw, as text that begins with `whose` and is cut to what fits into an
/// error; empty: nothing.
std::string thrown_by(const std::string& whose, const std::function<void()>& code);

/// Runs it on a new, detached thread that runs no signal handlers. Throws std::system_error and std::bad_alloc.
void run_aside(std::function<void()> what);

/// The call may take any time and cannot be stopped. So each one has its own thread, which is abandoned when nobody
/// waits for it any more; it then ends by itself and touches nothing. Use on the loop, except for leave() and the
/// destructor.
template <class Answer>
class Aside {
 public:
  /// The most questions of one object that run at the same time.
  static constexpr int kMost = 2;

  /// The answer, or why there is none, as text.
  using Found = std::function<void(Answer answer, const std::string& problem)>;
  struct Reply {
    Answer answer{};
    std::string problem{};  ///< Empty: there is an answer.
  };
  /// Runs on its own thread. May throw std::exception only; then there is no answer.
  using Question = std::function<Reply()>;

  /// `count`: for all in the process. `what`: for messages, such as "name look-ups".
  Aside(const boost::asio::any_io_executor& executor, AsideCount& count, const char* what)
      : shared_(std::make_shared<Shared>()), count_(count), what_(what) {
    shared_->executor = executor;
  }
  /// As leave().
  ~Aside() { leave(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  /// `found` is called on the loop, once, unless the next ask(), forget() or leave() comes first. An earlier question
  /// that is still running may answer instead, if it succeeds.
  void ask(Question question, Found found) {
    const Found before = shared_->wait(std::move(found));  // destroyed without the mutex: it may own a lot
    std::string problem;
    {
      const base::Guard guard(shared_->mutex);
      if (shared_->under_way >= kMost) return;
      problem = start(std::move(question));
      if (problem.empty()) ++shared_->under_way;
      if (shared_->under_way > 0) return;
      ++shared_->under_way;  // as if it had run and failed
    }
    shared_->tell(Reply{{}, std::move(problem)});
  }
  void forget() { shared_->wait({}); }
  /// From now on nothing is posted to the loop. From any thread.
  void leave() {
    const Found before = shared_->wait({});
    const base::Guard guard(shared_->mutex);
    shared_->executor.reset();
  }

 private:
  struct Shared : std::enable_shared_from_this<Shared> {
    base::Mutex mutex;
    std::optional<boost::asio::any_io_executor> executor;  // empty after leave()
    Found found;                                           // the waiting caller, if any
    std::uint64_t question = 0;                            // the one that `found` waits for
    int under_way = 0;

    /// Returns the caller that has waited so far.
    Found wait(Found next) {
      const base::Guard guard(mutex);
      ++question;
      return std::exchange(found, std::move(next));
    }

    /// A question has ended. The waiting caller stays here until the loop takes it: if it were destroyed under the
    /// mutex when memory runs out, it might destroy all that it keeps alive, including this object.
    void tell(std::optional<Reply> reply) noexcept {
      const base::Guard guard(mutex);
      --under_way;
      if (!reply || !executor || !found || (!reply->problem.empty() && under_way > 0)) return;
      try {
        boost::asio::post(*executor, [self = this->shared_from_this(), of = question,
                                      reply = std::move(*reply)]() mutable { self->answer(of, std::move(reply)); });
      } catch (const std::exception&) {
        // Out of memory: the caller stays here, and waits until its time limit.
      }
    }

    void answer(std::uint64_t its_question, Reply reply) {
      Found told;
      {
        const base::Guard guard(mutex);
        if (question != its_question) return;
        told.swap(found);
      }
      if (told) told(std::move(reply.answer), reply.problem);
    }
  };

  /// Returns why it could not be started; empty: it was.
  std::string start(Question question) {
    if (!count_.enter()) return std::string("too many ") + what_ + " are under way in this process";
    try {
      run_aside([shared = shared_, &count = count_, question = std::move(question)] {
        std::optional<Reply> reply;
        try {
          reply = question();
        } catch (const std::exception&) {
          // Out of memory: the caller waits until its time limit.
        }
        shared->tell(std::move(reply));
        count.leave();
      });
      return {};
    } catch (const std::exception& error) {
      count_.leave();
      return std::string("no thread for ") + what_ + ": " + error.what();
    }
  }

  const std::shared_ptr<Shared> shared_;
  AsideCount& count_;
  const char* const what_;
};

}  // namespace holdfast::redis
