// Simulated time: everything runs in one thread, in an order that follows from a seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"

namespace holdfast::test {

/// One at a time. As long as it lives the library's clock, timers, chance and connections are its own
/// (replacements.cpp).
class World {
 public:
  using Event = std::function<void()>;
  /// What an event is known by: its time, and the order of those at the same time.
  using Id = std::pair<base::TimePoint, std::uint64_t>;

  explicit World(std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  static World& current();

  base::TimePoint now() const { return now_; }
  boost::asio::io_context& context() { return *context_; }
  /// The context is being destroyed: nothing is to be posted there any more.
  bool ending() const { return ending_; }
  std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }
  /// Uniform, both ends included.
  base::Duration between(base::Duration least, base::Duration most);

  Id at(base::TimePoint time, Event event);
  Id after(base::Duration time, Event event) { return at(now_ + time, std::move(event)); }
  /// False: it has happened.
  bool cancel(const Id& id) { return events_.erase(id) > 0; }
  /// Moves bytes between the context and the world; true if it did. Called whenever the context has run dry.
  void set_pump(std::function<bool()> pump) { pump_ = std::move(pump); }

  /// Lets so much time pass.
  void run(base::Duration time);

 private:
  void settle();

  std::unique_ptr<boost::asio::io_context> context_ = std::make_unique<boost::asio::io_context>(1);
  bool ending_ = false;
  std::mt19937_64 random_;
  base::TimePoint now_{std::chrono::hours(1)};
  std::uint64_t last_ = 0;
  std::map<Id, Event> events_;
  std::function<bool()> pump_ = [] { return false; };
};

}  // namespace holdfast::test
