// SPDX-License-Identifier: Apache-2.0
// What a taker does with its commands: threads with numbers that lock, try and unlock. The commands are described at
// the head of taker_main.cpp; tests also run a session inside their own process.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "taker_async.hpp"
#include "taker_command.hpp"
#include "taker_config.hpp"
#include "taker_counting.hpp"
#include "taker_counts.hpp"
#include "taker_face.hpp"
#include "taker_leader.hpp"
#include "taker_locks.hpp"
#include "taker_record.hpp"
#include "taker_releases.hpp"
#include "taker_rounds.hpp"
#include "taker_text.hpp"
#include "taker_thread.hpp"

namespace holdfast::test {

/// Carries out command lines; thread-safe. Answers come from the threads of the session, one call at a time.
class TakerSession {
 public:
  using OnAnswer = std::function<void(std::string line)>;

  explicit TakerSession(OnAnswer on_answer) : on_answer_(std::move(on_answer)) {}

  /// Stops what waits, closes the client and ends the threads.
  ~TakerSession() {
    {
      const std::lock_guard guard(mutex_);
      for (auto& [tag, stop] : stops_) stop.request_stop();
    }
    if (locks_) close();
    threads_.clear();
  }
  TakerSession(const TakerSession&) = delete;
  TakerSession& operator=(const TakerSession&) = delete;

  /// Hands the command to its thread and returns; only `connect` and `cancel` are done at once.
  void submit(std::string_view line) {
    std::vector<std::string> fields;
    try {
      fields = split_fields(line);
      if (fields.size() < 2) throw std::invalid_argument("a line is TAG COMMAND ARGUMENT...");
    } catch (const std::exception& error) {
      return answer(fields.empty() ? "?" : fields.front(), now(), {"error", "usage", error.what()});
    }
    const auto command = std::make_shared<const Command>(std::move(fields));
    if (command->verb() == "connect" || command->verb() == "cancel") return carry_out(*command, nullptr);
    if (command->verb() == "lock" || command->verb() == "try" || command->verb() == "hold_for") {
      const std::lock_guard guard(mutex_);
      stops_[command->tag()];
    }
    TakerThread& thread = thread_of(*command);
    thread.post([this, command, &thread] { carry_out(*command, &thread); });
  }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Command = TakerCommand;
  using Values = std::vector<std::string>;

  static long long now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  }

  void answer(const std::string& tag, long long began, const Values& values) {
    Values fields{tag, std::to_string(began), std::to_string(now())};
    fields.insert(fields.end(), values.begin(), values.end());
    const std::lock_guard guard(answer_mutex_);
    on_answer_(join_fields(fields));
  }

  void carry_out(const Command& command, TakerThread* thread) {
    const long long began = now();
    const Microseconds called = shared_clock();
    Values values;
    try {
      if (command.verb() == "unlock") {
        return leave(command.argument(1), *thread, [this, command, began, called](const std::string& outcome) {
          record(command, called, {"ok", outcome});
          answer(command.tag(), began, {"ok", outcome});
        });
      }
      values = {"ok", dispatch(command, thread)};
    } catch (const Error& error) {
      values = {"error", error_word(error.code()), error.what()};
    } catch (const std::exception& error) {
      values = {"error", "usage", error.what()};
    }
    record(command, called, values);
    answer(command.tag(), began, values);
  }

  /// What changes a lock, or was to.
  void record(const Command& command, Microseconds called, const Values& values) {
    const std::string& verb = command.verb();
    if (!record_ || (verb != "lock" && verb != "try" && verb != "unlock" && verb != "force")) return;
    const std::string& word = values[1];
    const std::string ended = std::to_string(shared_clock());
    if (verb == "force") {
      const std::string answer = values[0] == "ok" ? word : "unknown";
      return record_->write({"force", command.argument(0), std::to_string(called), ended, answer});
    }
    std::string outcome = word;
    if (verb != "unlock" && values[0] == "ok") outcome = word == "no" ? "timed_out" : "granted";
    if (outcome == "timed_out" && command.number(2) == 0) outcome = "busy";
    record_->write({"op", command.argument(0), command.argument(1), verb == "unlock" ? "release" : "acquire",
                    std::to_string(called), ended, outcome});
  }

  std::string dispatch(const Command& command, TakerThread* thread) {
    const std::string& verb = command.verb();
    if (verb == "connect") return connect(command);
    if (verb == "cancel") return cancel(command.argument(0));
    if (verb == "lock") return enter(command, *thread, std::nullopt, command.lease(2));
    if (verb == "try") return enter(command, *thread, Milliseconds(command.number(2)), command.lease(3));
    if (verb == "increment") return increment(command, *thread);
    if (verb == "increment_for") return increment_for(command, *thread);
    if (verb == "compare_for") return compare_for(command, *thread);
    if (verb == "hold_for") return hold_for(command, *thread);
    if (verb == "counting") return TakerCounting(locks().client(), *thread, command).carry_out(command.argument(1));
    if (verb == "force") return yes_or_no(face_->force_release(locks().key_lock(command.argument(0))));
    if (verb == "locked") return yes_or_no(face_->is_locked(locks().key_lock(command.argument(0))));
    if (verb == "ttl") return remaining(command.argument(0));
    if (verb == "counters") return counters();
    if (verb == "close") return close();
    return face_->query(locks(), *thread, command.argument(1), verb);
  }

  std::string connect(const Command& command) {
    TakerSettings settings(command);
    auto releases = std::make_shared<TakerReleases>(settings.events);
    const bool pipelined = settings.configs.front().pipelined_release;
    face_ = make_face(settings.face);
    rounds_face_ = make_face(settings.face_is_given ? settings.face : "hold");
    if (!settings.record.empty()) record_.emplace(settings.record);
    std::vector<Client> made;
    for (Config& config : settings.configs) {
      if (pipelined || !settings.events.empty()) config.observer = releases;
      made.push_back(face_->make_client(config));
    }
    releases_ = pipelined ? std::move(releases) : nullptr;
    locks_ = std::make_unique<TakerLocks>(std::move(made), settings.kind, settings.simple);
    return locks_->client().id();
  }

  std::unique_ptr<TakerFace> make_face(const std::string& name) {
    if (name == "std") return std::make_unique<StdFace>();
    if (name == "hold") return std::make_unique<HoldFace>();
    if (!context_) context_.emplace();
    return std::make_unique<AsyncFace>(*context_);
  }

  /// Stops a lock or try that waits, or that has not started yet.
  std::string cancel(const std::string& tag) {
    std::optional<std::stop_source> stop;
    {
      const std::lock_guard guard(mutex_);
      if (const auto found = stops_.find(tag); found != stops_.end()) stop = found->second;
    }
    return yes_or_no(stop && stop->request_stop());
  }

  std::string enter(const Command& command, TakerThread& thread, std::optional<Milliseconds> wait, Lease lease) {
    AcquireOptions options;
    options.wait = wait;
    options.lease = lease;
    options.stop = stop_token(command);
    const bool entered = enter(command.argument(1), thread, options);
    forget_stop(command);
    return wait ? yes_or_no(entered) : "";
  }

  /// By which `cancel` ends this command.
  std::stop_token stop_token(const Command& command) {
    const std::lock_guard guard(mutex_);
    return stops_[command.tag()].get_token();
  }
  void forget_stop(const Command& command) {
    const std::lock_guard guard(mutex_);
    stops_.erase(command.tag());
  }

  bool enter(const std::string& name, TakerThread& thread, const AcquireOptions& options) {
    try {
      return face_->enter(locks(), thread, name, options);
    } catch (const Error& error) {
      const auto in_vain = {Errc::timed_out, Errc::busy, Errc::not_set, Errc::too_few};
      if (options.wait && std::ranges::any_of(in_vain, [&](Errc each) { return error.code() == each; })) return false;
      throw;
    }
  }

  /// Gives it back as the end of a guard does, and tells the outcome: at once, or if that does not wait for the server,
  /// when it is known.
  void leave(const std::string& name, TakerThread& thread, TakerReleases::Told told) {
    face_->leave(locks(), thread, name, closed_ ? nullptr : releases_.get(), std::move(told));
  }

  using Outcomes = std::vector<std::future<std::string>>;

  std::string increment(const Command& command, TakerThread& thread) {
    const Milliseconds pause(command.count() > 4 ? command.number(4) : 0);
    Outcomes outcomes;
    for (long long i = 0; i < command.number(3); ++i) outcomes.push_back(increment_once(command, thread, pause));
    return all_released(outcomes);
  }

  std::string increment_for(const Command& command, TakerThread& thread) {
    const auto end = std::chrono::steady_clock::now() + Milliseconds(command.number(3));
    const Milliseconds pause(command.count() > 4 ? command.number(4) : 0);
    Outcomes outcomes;
    while (std::chrono::steady_clock::now() < end) outcomes.push_back(increment_once(command, thread, pause));
    return all_released(outcomes);
  }

  std::string compare_for(const Command& command, TakerThread& thread) {
    const std::string& name = command.argument(1);
    const auto end = std::chrono::steady_clock::now() + Milliseconds(command.number(3));
    int torn = 0;
    Outcomes outcomes;
    while (std::chrono::steady_clock::now() < end) {
      enter(name, thread, {});
      const long long before = number_in(command.argument(2));
      std::this_thread::sleep_for(Milliseconds(command.number(4)));
      torn += number_in(command.argument(2)) == before ? 0 : 1;
      outcomes.push_back(give_back(name, thread));
      std::this_thread::sleep_for(Milliseconds(command.number(5)));
    }
    return all_released(outcomes) + "/" + std::to_string(torn);
  }

  std::string hold_for(const Command& command, TakerThread& thread) {
    const long long done = rounds(command, thread);
    forget_stop(command);
    return std::to_string(done);
  }
  long long rounds(const Command& command, TakerThread& thread) {
    const std::string kind = locks().kind_of(command.argument(1));
    if (kind == "semaphore") return TakerPermits(locks().client(), command, stop_token(command)).run();
    if (kind == "latch") return TakerLatches(locks().client(), command, stop_token(command)).run();
    TakerFace& face = kind == "leader" ? leader_face_ : *rounds_face_;
    return TakerRounds(face, locks(), thread, releases_, command, stop_token(command)).run();
  }

  /// Read, wait a little, write back: loses updates unless the lock excludes everybody else.
  std::future<std::string> increment_once(const Command& command, TakerThread& thread, Milliseconds pause) {
    const std::string& name = command.argument(1);
    enter(name, thread, {});
    const long long value = number_in(command.argument(2));
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    std::ofstream(command.argument(2)) << value + 1;
    return give_back(name, thread);
  }

  std::future<std::string> give_back(const std::string& name, TakerThread& thread) {
    const auto told = std::make_shared<std::promise<std::string>>();
    leave(name, thread, [told](const std::string& outcome) { told->set_value(outcome); });
    return told->get_future();
  }

  static long long number_in(const std::string& file) {
    long long number = 0;
    std::ifstream(file) >> number;
    return number;
  }

  /// How many there were.
  static std::string all_released(Outcomes& outcomes) {
    for (std::future<std::string>& each : outcomes) {
      const bool known = each.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
      const std::string outcome = known ? each.get() : "not told";
      if (outcome != "released") throw std::runtime_error("a round's unlock: " + outcome);
    }
    return std::to_string(outcomes.size());
  }

  std::string remaining(const std::string& name) {
    const auto remaining = face_->remaining(locks().key_lock(name));
    return remaining ? std::to_string(remaining->count()) : "none";
  }

  std::string counters() {
    const Counters counters = locks().client().counters();
    std::string text;
    const auto add = [&](const char* name, std::uint64_t value) {
      text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(value);
    };
    add("granted", counters.granted);
    add("released", counters.released);
    add("renewals", counters.renewals);
    add("renewal_batches", counters.renewal_batches);
    add("lost", counters.lost);
    add("safety_polls", counters.safety_polls);
    add("safety_poll_wakes", counters.safety_poll_wakes);
    add("commands", counters.commands);
    return text;
  }

  TakerLocks& locks() {
    if (!locks_) throw std::invalid_argument("not connected");
    return *locks_;
  }
  std::string close() {
    closed_ = true;
    for (Client& each : locks().clients()) face_->close(each);
    return "";
  }

  /// Commands without a thread of their own run on thread 0.
  TakerThread& thread_of(const Command& command) {
    long long number = 0;
    if (command.has_thread() && command.count() > 0) number = std::atoll(command.argument(0).c_str());
    const std::lock_guard guard(mutex_);
    auto& thread = threads_[number];
    if (!thread) thread = std::make_unique<TakerThread>();
    return *thread;
  }

  const OnAnswer on_answer_;
  std::mutex answer_mutex_;  // one answer at a time
  // Written by connect only, before any other command.
  std::optional<TakerContext> context_;  // of the async face; outlives what is on it
  std::unique_ptr<TakerFace> face_, rounds_face_;
  LeaderFace leader_face_;
  std::optional<TakerRecord> record_;  // of single commands
  std::unique_ptr<TakerLocks> locks_;
  std::shared_ptr<TakerReleases> releases_;  // if unlocking does not wait
  std::atomic<bool> closed_{false};          // nothing is told any more
  std::mutex mutex_;                         // guards what follows
  std::map<std::string, std::stop_source> stops_;
  std::map<long long, std::unique_ptr<TakerThread>> threads_;
};

}  // namespace holdfast::test
