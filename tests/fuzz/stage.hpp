// SPDX-License-Identifier: Apache-2.0
// What the library runs on in a fuzzer: time, timers and connections that do nothing until the target moves them.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "loop/timer.hpp"

namespace holdfast::fuzz {

/// One at a time. While there is none, time stands still and there are no timers (replacements.cpp).
class Stage {
 public:
  Stage();
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  static Stage* current();

  boost::asio::io_context& context() { return *context_; }
  base::TimePoint now() const { return now_; }
  /// Runs what is ready, one handler at a time.
  void settle();
  /// Called between two handlers.
  void set_between(std::function<void()> between) { between_ = std::move(between); }
  /// Lets so much time pass, and whatever is due in it happen.
  void pass(base::Duration time);
  /// The same, but no longer than until it is over.
  void pass_until(base::Duration most, const std::function<bool()>& over);
  /// To the next timer, if that is due within this time.
  void pass_to_next(base::Duration most);

  // The servers' side of connections, of which one at a time is spoken of: the latest, unless it was said otherwise.
  static constexpr std::size_t kMostConnections = 6;
  /// False: nobody wants one. Beyond kMostConnections the oldest is hung up.
  bool accept();
  bool refuse();
  void turn_to(std::size_t connection);
  void say(std::string_view bytes);
  /// What has been heard since the last time; it is not kept.
  std::string hear();
  void hang_up();

  // For the replacements.
  std::uint64_t next_number() { return ++last_number_; }
  void start(const timing::Timer* timer, base::TimePoint time, std::function<void()> handler);
  void end(const timing::Timer* timer);
  void dial(std::function<void(int fd)> done);

 private:
  struct Wait {
    const timing::Timer* timer;
    base::TimePoint time;
    std::function<void()> handler;
  };
  void hang_up(std::size_t connection);
  /// The first that is due, and of those the one that was started first; null: there is none.
  const Wait* next() const;

  std::unique_ptr<boost::asio::io_context> context_ = std::make_unique<boost::asio::io_context>(1);
  bool ending_ = false;
  base::TimePoint now_{std::chrono::hours(1)};
  std::function<void()> between_ = [] {};
  std::vector<Wait> waits_;  // few, in the order in which they were started
  std::uint64_t last_number_ = 0;
  std::list<std::function<void(int)>> dials_;
  std::deque<int> servers_;
  std::size_t at_ = 0;  // which of them is spoken of
};

}  // namespace holdfast::fuzz
