// SPDX-License-Identifier: Apache-2.0
// What a client is asked to do on its loop that has a result, for a caller who waits for it or is called with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "lock/runtime/pending.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/own_loop.hpp"

namespace holdfast::engine {

/// One operation, which is the same whoever wants its result. Whether or not its caller still waits, it keeps itself
/// alive until it has told the result.
template <class Outcome>
class Job : public Loop::Task {
 public:
  using Result = Outcome;
  using Done = std::function<void(Result)>;

  /// Runs it on the loop and waits for the result. Empty: `until` was reached first, or the loop is over. Not from the
  /// loop itself.
  static std::optional<Result> wait(OwnLoop& loop, const std::shared_ptr<Job>& job, base::TimePoint until) {
    job->waiting_on_ = &loop;
    loop.call(job, job->answer_, until);
    if (!job->answer_.is_there()) return std::nullopt;
    return std::move(job->result_);
  }
  /// The same, if the client can be used; if not, the result is why. Closing waits for the job.
  static std::optional<Result> ask(Runtime& runtime, const std::shared_ptr<Job>& job, base::TimePoint until) {
    if (const std::error_code refused = job->admit(runtime)) return failed(refused);
    return wait(*runtime.own_loop(), job, until);
  }
  /// The same without waiting: `done` is called once, on the loop; at once, in the caller, if the client cannot be
  /// used.
  static void ask(Runtime& runtime, std::shared_ptr<Job> job, Done done) {
    if (const std::error_code refused = job->admit(runtime)) return done(failed(refused));
    job->done_ = std::move(done);
    runtime.loop().post_from_caller(std::move(job), Loop::Pace::at_once);
  }

 protected:
  explicit Job(Done done = {}) : done_(std::move(done)) {}

  /// Somebody wants the result.
  bool wanted() const { return waiting_on_ != nullptr || done_; }
  /// At its end. On the loop; no effect after the first call.
  void tell(Result result) noexcept {
    if (OwnLoop* const loop = std::exchange(waiting_on_, nullptr)) {
      result_ = std::move(result);
      loop->set(answer_);
    } else if (const Done told = std::exchange(done_, {})) {
      try {
        told(std::move(result));
      } catch (...) {
        // Out of memory for whoever was to be told.
      }
    }
    pending_ = {};
  }

 private:
  std::error_code admit(Runtime& runtime) {
    Runtime::Admission admission = runtime.admit();
    client_ = runtime.client().lock();
    pending_ = std::move(admission.token);
    return admission.refused;
  }
  static Result failed(std::error_code why) {
    Result result;
    result.error = why;
    return result;
  }

  OwnLoop* waiting_on_ = nullptr;  // whose caller waits, until it is answered
  Answer answer_;
  Result result_{};
  Done done_;
  std::shared_ptr<void> client_;  // of the token, which is the first of them to go
  Pending::Token pending_;
};

}  // namespace holdfast::engine
