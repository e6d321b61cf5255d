// Runs what belongs to the user: observer calls and loss callbacks, or stop callbacks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::engine {

/// Runs tasks one after another: elsewhere, if it is told where, or on a thread of its own, which starts with the first
/// of them. Tasks must not throw past themselves; what escapes is swallowed.
class Notifier {
 public:
  /// Runs a function some time later, after those that it was given before.
  using Elsewhere = std::function<void(std::function<void()>)>;
  explicit Notifier(Elsewhere elsewhere = {}) : elsewhere_(std::move(elsewhere)) {}
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// From any thread. After stop() tasks are dropped.
  void post(std::function<void()> task);
  /// Runs what is queued, then ends the thread; elsewhere, what is queued runs in its time. Idempotent.
  void stop();

 private:
  void run();
  static void run(const std::function<void()>& task) noexcept;

  const Elsewhere elsewhere_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread thread_;                       // guarded by mutex_ until stopping_ is set
};

}  // namespace holdfast::engine
