// SPDX-License-Identifier: Apache-2.0
// Random callers of every kind, who extend, leave, downgrade, detach, adopt, release and count, cancel at random, and
// ask the next before they have the answer, beside a plain model of what must be so.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "answers/ground.hpp"

namespace holdfast::test::answers {

enum class Kind { lock, simple, fenced, fair, spin, read_write, permits, multi, any, semaphore, totals, latch };
constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::latch) + 1;
const char* to_string(Kind kind);

struct Orders {
  std::uint64_t seed = 1;
  std::uint64_t operations = 10'000;
  std::size_t callers = 24;  ///< Stories at the same time.
  std::optional<Kind> only{};
};

class Driver {
 public:
  Driver(Ground& ground, const Orders& orders) : ground_(ground), orders_(orders) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The rest happens on the context, which must run until it is over, and the clients be closed then. A disagreement
  /// ends it soon.
  void start();
  bool over() const { return callers_ == 0; }
  /// The first disagreement between the clients, the server and the model. Empty: there is none.
  const std::optional<std::string>& disagreement() const { return disagreement_; }
  /// A call that has been under way for so long hangs: a disagreement.
  void look_for_hangs(base::Duration most);
  std::uint64_t operations() const { return operations_; }
  std::uint64_t operations(Kind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }
  /// How often each outcome was seen, for people.
  const std::map<std::string, std::uint64_t>& outcomes() const { return outcomes_; }

  // ---- for the stories ----
  struct Call {
    std::string what;
    base::TimePoint began;
  };
  /// A call under way.
  class Running {
   public:
    Running(Driver& driver, Kind kind, std::string what);
    ~Running() { calls_->erase(call_); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    const std::shared_ptr<std::list<Call>> calls_;  // what hangs may end behind the driver
    std::list<Call>::iterator call_;
  };
  Ground& ground() { return ground_; }
  void count(const std::string& outcome) { ++outcomes_[outcome]; }
  void disagree(std::string what);
  bool goes_on() const { return !disagreement_ && operations_ < orders_.operations; }
  boost::asio::awaitable<void> pause(std::chrono::microseconds time);

 private:
  boost::asio::awaitable<void> caller(std::uint64_t seed);

  Ground& ground_;
  const Orders orders_;
  std::size_t callers_ = 0;
  std::uint64_t operations_ = 0, stories_ = 0;
  std::uint64_t by_kind_[kKinds] = {};
  std::map<std::string, std::uint64_t> outcomes_;
  const std::shared_ptr<std::list<Call>> calls_ = std::make_shared<std::list<Call>>();
  std::optional<std::string> disagreement_;
};

/// Chance, and what is done with it. Of one story.
class Story {
 public:
  Story(Driver& driver, Kind kind, std::string name, std::uint64_t seed)
      : driver_(driver), kind_(kind), name_(std::move(name)), chance_(seed) {}

 protected:
  using Signal = std::shared_ptr<boost::asio::cancellation_signal>;

  Driver& driver() { return driver_; }
  Ground& ground() { return driver_.ground(); }
  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  std::uint64_t dice(std::uint64_t sides) { return chance_() % sides; }
  bool share(unsigned percent) { return dice(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[dice(all.size())];
  }
  std::size_t some_client() { return dice(ground().clients()); }
  Driver::Running running(const std::string& what) {
    return {driver_, kind_, what + " of " + to_string(kind_) + " " + name_};
  }
  /// With so many in a hundred it is emitted within some milliseconds.
  Signal cancelled_sometimes(unsigned percent) {
    const auto signal = std::make_shared<boost::asio::cancellation_signal>();
    if (share(percent)) {
      ground().after(std::chrono::microseconds(dice(one_of<std::uint64_t>({1, 300, 3'000, 20'000}))),
                     [signal] { signal->emit(boost::asio::cancellation_type::terminal); });
    }
    return signal;
  }
  static auto answer(const Signal& signal) {
    return boost::asio::bind_cancellation_slot(signal->slot(), boost::asio::as_tuple(boost::asio::use_awaitable));
  }

 private:
  Driver& driver_;
  const Kind kind_;
  const std::string name_;
  std::mt19937_64 chance_;
};

/// Holds of one lock, from its first acquire until nobody has it.
boost::asio::awaitable<void> tell_of_holds(Driver& driver, Kind kind, std::string name, std::uint64_t seed);
/// A few operations of what is counted, of which each counts once.
boost::asio::awaitable<void> tell_of_counts(Driver& driver, Kind kind, std::string name, std::uint64_t seed);

}  // namespace holdfast::test::answers
