// SPDX-License-Identifier: Apache-2.0
// One of a taker's threads, and what belongs to it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <holdfast/holdfast.hpp>

namespace holdfast::test {

class TakerTerm;

/// A thread that runs tasks in order. Destruction runs what is left.
class TakerThread {
 public:
  TakerThread() : thread_([this] { run(); }) {}
  ~TakerThread() {
    post({});
    thread_.join();
  }
  TakerThread(const TakerThread&) = delete;
  TakerThread& operator=(const TakerThread&) = delete;

  void post(std::function<void()> task) {
    {
      const std::lock_guard guard(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

  // By lock name; touched by this thread only.
  std::map<std::string, BasicLock> locks;
  std::map<std::string, Hold> holds;                        // where the hold is the owner
  std::map<std::string, std::shared_ptr<TakerTerm>> terms;  // where it leads
  std::map<std::string, std::string> loss_reasons;          // of what was given back last

 private:
  void run() {
    while (const std::function<void()> task = next()) task();
    holds.clear();
    terms.clear();
    locks.clear();
  }
  std::function<void()> next() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return !tasks_.empty(); });
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // an empty one ends the thread
  std::thread thread_;
};

}  // namespace holdfast::test
