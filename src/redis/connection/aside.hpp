// Questions whose answer keeps a thread waiting, asked so that nobody else has to wait.
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

/// How many threads of one kind are under way in this process. Those of the parent of a fork are not here.
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

/// Runs it on a thread of its own that no signal handler runs on, and lets that go. Throws std::system_error and
/// std::bad_alloc.
void run_aside(std::function<void()> what);

/// Who is asked answers when he likes, and cannot be stopped. So each question has a thread of its own, which is left
/// behind when nobody waits for it any more; it then ends by itself and touches nothing. On the loop, but for its end.
template <class Answer>
class Aside {
 public:
  /// At most so many questions of one asker are under way.
  static constexpr int kMost = 2;

  /// The answer, or in words why there is none.
  using Found = std::function<void(Answer answer, const std::string& problem)>;
  struct Reply {
    Answer answer{};
    std::string problem{};  ///< Empty: there is an answer.
  };
  /// On a thread of its own. Throws nothing but std::exception; then nobody is told.
  using Question = std::function<Reply()>;

  /// `count`: of all in the process. `what`: in words, such as "name look-ups".
  Aside(const boost::asio::any_io_executor& executor, AsideCount& count, const char* what)
      : shared_(std::make_shared<Shared>()), count_(count), what_(what) {
    shared_->executor = executor;
  }
  /// As leave().
  ~Aside() { leave(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  /// `found` is called on the loop, once, unless the next ask(), forget() or leave() comes first. A question that is
  /// still under way from an earlier time may answer instead, if it is for the good.
  void ask(Question question, Found found) {
    const Found before = shared_->wait(std::move(found));  // goes without the mutex: it may keep much alive
    std::string problem;
    {
      const base::Guard guard(shared_->mutex);
      if (shared_->under_way >= kMost) return;
      problem = start(std::move(question));
      if (problem.empty()) ++shared_->under_way;
      if (shared_->under_way > 0) return;
      ++shared_->under_way;  // as if it had been, and had failed
    }
    shared_->tell(Reply{{}, std::move(problem)});
  }
  void forget() { shared_->wait({}); }
  /// From any thread: nothing is posted to the loop any more.
  void leave() {
    const Found before = shared_->wait({});
    const base::Guard guard(shared_->mutex);
    shared_->executor.reset();
  }

 private:
  struct Shared : std::enable_shared_from_this<Shared> {
    base::Mutex mutex;
    std::optional<boost::asio::any_io_executor> executor;  // empty once the asker has left
    Found found;                                           // who waits, if anybody does
    std::uint64_t question = 0;                            // whose
    int under_way = 0;

    /// Returns who has waited so far.
    Found wait(Found next) {
      const base::Guard guard(mutex);
      ++question;
      return std::exchange(found, std::move(next));
    }

    /// A question has ended. Who waits stays here until the loop takes it: dropped for want of memory under the mutex,
    /// it might end all that it keeps alive, this asker as well.
    void tell(std::optional<Reply> reply) noexcept {
      const base::Guard guard(mutex);
      --under_way;
      if (!reply || !executor || !found || (!reply->problem.empty() && under_way > 0)) return;
      try {
        boost::asio::post(*executor, [self = this->shared_from_this(), of = question,
                                      reply = std::move(*reply)]() mutable { self->answer(of, std::move(reply)); });
      } catch (const std::exception&) {
        // The same.
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

  /// Returns why it cannot.
  std::string start(Question question) {
    if (!count_.enter()) return std::string("too many ") + what_ + " are under way in this process";
    try {
      run_aside([shared = shared_, &count = count_, question = std::move(question)] {
        std::optional<Reply> reply;
        try {
          reply = question();
        } catch (const std::exception&) {
          // Out of memory: whoever waits does so until his time limit.
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
