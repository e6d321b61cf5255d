// SPDX-License-Identifier: Apache-2.0
// What a taker does with semaphores and latches: the command `counting`.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include <holdfast/holdfast.hpp>

#include "taker_command.hpp"
#include "taker_thread.hpp"

namespace holdfast::test {

/// `counting THREAD WHAT NAME NUMBER MILLISECONDS`; the number and the time mean what they must for what is done.
class TakerCounting {
 public:
  TakerCounting(const Client& client, TakerThread& thread, const TakerCommand& command)
      : client_(client),
        thread_(thread),
        name_(command.argument(2)),
        number_(command.number(3)),
        time_(command.number(4)) {}

  std::string carry_out(const std::string& what) {
    const std::string kind = what.substr(0, what.find('.')), verb = what.substr(what.find('.') + 1);
    if (kind == "semaphore") return semaphore(client_.semaphore(name_), verb);
    if (kind == "leased") return leased(client_.leased_semaphore(name_), verb);
    if (kind == "latch") return latch(client_.latch(name_), verb);
    throw std::invalid_argument("no such kind: " + what);
  }

 private:
  static std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

  std::string semaphore(const Semaphore& semaphore, const std::string& verb) {
    const auto permits = static_cast<std::uint32_t>(number_);
    if (verb == "set") return yes_or_no(semaphore.init(number_));
    if (verb == "add") return semaphore.add(number_), "";
    if (verb == "available") return std::to_string(semaphore.available());
    if (verb == "remove") return yes_or_no(semaphore.remove());
    if (verb == "drain") return std::to_string(semaphore.drain());
    if (verb == "try") return yes_or_no(semaphore.try_acquire_for(time_, permits));
    if (verb == "acquire") return semaphore.acquire(permits), "";
    if (verb == "release") return semaphore.release(number_), "";
    return cycle([&] { semaphore.acquire(permits); }, [&] { semaphore.release(number_); });
  }

  /// A hold is kept by its permit's id.
  std::string leased(const LeasedSemaphore& semaphore, const std::string& verb) {
    if (verb == "set") return yes_or_no(semaphore.init(number_));
    if (verb == "add") return semaphore.add(number_), "";
    if (verb == "available") return std::to_string(semaphore.available());
    if (verb == "remove") return yes_or_no(semaphore.remove());
    if (verb == "acquire") return keep(semaphore.acquire());
    if (verb == "try") {
      MaybeHold hold = semaphore.try_acquire({.wait = time_});
      return hold ? keep(std::move(*hold)) : "no";
    }
    if (verb == "release") {
      Hold hold = std::move(thread_.holds.at(name_));
      thread_.holds.erase(name_);
      return std::string(to_string(hold.release()));
    }
    if (verb == "lost") return yes_or_no(thread_.holds.at(name_).is_lost());
    return cycle([&] { keep(semaphore.acquire()); }, [&] { thread_.holds.erase(name_); });
  }

  std::string keep(Hold hold) {
    std::string id = hold.owner();
    thread_.holds.insert_or_assign(name_, std::move(hold));
    return id;
  }

  std::string latch(const Latch& latch, const std::string& verb) const {
    if (verb == "set") return yes_or_no(latch.init(number_));
    if (verb == "count_down") return latch.count_down(number_), "";
    if (verb == "count") return std::to_string(latch.count());
    if (verb == "wait") return yes_or_no(latch.wait_for(time_));
    throw std::invalid_argument("no such verb: " + verb);
  }

  /// How often it took and gave back in the time.
  template <class Take, class GiveBack>
  std::string cycle(Take take, GiveBack give_back) const {
    const auto end = std::chrono::steady_clock::now() + time_;
    long long rounds = 0;
    for (; std::chrono::steady_clock::now() < end; ++rounds) {
      take();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      give_back();
    }
    return std::to_string(rounds);
  }

  const Client& client_;
  TakerThread& thread_;
  const std::string name_;
  const long long number_;
  const std::chrono::milliseconds time_;
};

}  // namespace holdfast::test
