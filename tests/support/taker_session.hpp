// What a taker does with its commands: threads with numbers that lock, try and unlock. The commands are described at
// the head of taker_main.cpp; tests also run a session inside their own process.
#pragma once

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

#include "taker_command.hpp"
#include "taker_config.hpp"
#include "taker_releases.hpp"
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
    closed_ = true;
    for (const auto& each : current_clients()) each->close();
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
    if (command->verb() == "lock" || command->verb() == "try") {
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
  using Clients = std::vector<std::shared_ptr<Client>>;

  static long long now() {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count();
  }

  void answer(const std::string& tag, long long began, const Values& values) {
    Values fields{tag, std::to_string(began), std::to_string(now())};
    fields.insert(fields.end(), values.begin(), values.end());
    const std::lock_guard guard(answer_mutex_);
    on_answer_(join_fields(fields));
  }

  void carry_out(const Command& command, TakerThread* thread) {
    const long long began = now();
    Values values;
    try {
      if (command.verb() == "unlock") {
        return leave(command.argument(1), *thread, [this, tag = command.tag(), began](const std::string& outcome) {
          answer(tag, began, {"ok", outcome});
        });
      }
      values = {"ok", dispatch(command, thread)};
    } catch (const Error& error) {
      values = {"error", word(error.code()), error.what()};
    } catch (const std::exception& error) {
      values = {"error", "usage", error.what()};
    }
    answer(command.tag(), began, values);
  }

  std::string dispatch(const Command& command, TakerThread* thread) {
    const std::string& verb = command.verb();
    if (verb == "connect") return connect(command);
    if (verb == "cancel") return cancel(command.argument(0));
    if (verb == "lock") return enter(command, *thread, std::nullopt, command.lease(2));
    if (verb == "try") return enter(command, *thread, Milliseconds(command.number(2)), command.lease(3));
    if (verb == "increment") return increment(command, *thread);
    if (verb == "increment_for") return increment_for(command, *thread);
    if (verb == "force") return yes_or_no(key_lock(command.argument(0)).force_release());
    if (verb == "locked") return yes_or_no(key_lock(command.argument(0)).is_locked());
    if (verb == "ttl") return remaining(command.argument(0));
    if (verb == "counters") return counters();
    if (verb == "close") return close();
    return query(command, *thread);
  }

  /// What costs no command: the thread's own view of its hold.
  std::string query(const Command& command, TakerThread& thread) {
    const std::string& verb = command.verb();
    const std::string& name = command.argument(1);
    if (hold_face_) {
      const Hold& hold = thread.holds[name];
      const bool open = hold && hold.state() != HoldState::lost;
      if (verb == "mine") return yes_or_no(open);
      if (verb == "count") return open ? "1" : "0";
      if (verb == "valid") return std::to_string(hold.valid_for().count());
      if (verb == "lost") return yes_or_no(hold.lost().stop_requested());
    } else {
      const BasicLock& lock = lock_of(name, thread);
      if (verb == "mine") return yes_or_no(lock.is_mine());
      if (verb == "count") return std::to_string(lock.hold_count());
      if (verb == "valid") return std::to_string(lock.valid_for().count());
      if (verb == "lost") return yes_or_no(lock.lost().stop_requested());
    }
    throw std::invalid_argument("no such command: " + verb);
  }

  std::string connect(const Command& command) {
    TakerSettings settings(command);
    auto releases = std::make_shared<TakerReleases>();
    const bool pipelined = settings.configs.front().pipelined_release;
    Clients made;
    for (Config& config : settings.configs) {
      if (pipelined) config.observer = releases;
      made.push_back(std::make_shared<Client>(config));
    }
    const std::lock_guard guard(mutex_);
    hold_face_ = settings.hold_face;
    kind_ = settings.kind;
    simple_ = settings.simple;
    releases_ = pipelined ? std::move(releases) : nullptr;
    groups_.clear();
    clients_ = std::move(made);
    return clients_.front()->id();
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
    {
      const std::lock_guard guard(mutex_);
      options.stop = stops_[command.tag()].get_token();
    }
    const bool entered = enter(command.argument(1), thread, options);
    {
      const std::lock_guard guard(mutex_);
      stops_.erase(command.tag());
    }
    return wait ? yes_or_no(entered) : "";
  }

  bool enter(const std::string& name, TakerThread& thread, const AcquireOptions& options) {
    try {
      if (hold_face_) {
        thread.holds[name] = lock_of(name).acquire(options);
        return true;
      }
      BasicLock lock = lock_of(name, thread).with(options);
      if (options.wait && options.wait->count() <= 0) return lock.try_lock();
      lock.lock();
      return true;
    } catch (const Error& error) {
      if (options.wait && (error.code() == Errc::timed_out || error.code() == Errc::busy)) return false;
      throw;
    }
  }

  /// Gives it back as the end of a guard does, and tells the outcome: at once, or if that does not wait for the server,
  /// when it is known.
  void leave(const std::string& name, TakerThread& thread, TakerReleases::Told told) {
    const bool waits = !releases_ || closed_;
    if (hold_face_) {
      const auto held = thread.holds.extract(name);
      if (!held || !held.mapped()) throw Error(Errc::not_owner, name, client().node(), "this thread has no hold");
      if (waits) return told(to_string(held.mapped().release()));
      return releases_->expect(held.mapped().name(), std::move(told));  // and here the hold ends
    }
    BasicLock& lock = lock_of(name, thread);
    if (waits || lock.hold_count() != 1) return told(to_string(lock.release()));
    releases_->expect(lock.name(), std::move(told));
    lock.unlock();
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

  /// Read, wait a little, write back: loses updates unless the lock excludes everybody else.
  std::future<std::string> increment_once(const Command& command, TakerThread& thread, Milliseconds pause) {
    const std::string& name = command.argument(1);
    enter(name, thread, {});
    long long value = 0;
    std::ifstream(command.argument(2)) >> value;
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    std::ofstream(command.argument(2)) << value + 1;
    const auto told = std::make_shared<std::promise<std::string>>();
    leave(name, thread, [told](const std::string& outcome) { told->set_value(outcome); });
    return told->get_future();
  }

  /// How many there were.
  static std::string all_released(Outcomes& outcomes) {
    for (std::future<std::string>& each : outcomes) {
      const bool known = each.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
      const std::string outcome = known ? each.get() : "not told";
      if (outcome != "released") throw std::runtime_error("an increment's unlock: " + outcome);
    }
    return std::to_string(outcomes.size());
  }

  std::string remaining(const std::string& name) {
    const auto remaining = key_lock(name).remaining();
    return remaining ? std::to_string(remaining->count()) : "none";
  }

  std::string counters() {
    const Counters counters = client().counters();
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

  Client& client() { return *clients().front(); }
  Clients clients() {
    const std::lock_guard guard(mutex_);
    if (clients_.empty()) throw std::invalid_argument("not connected");
    return clients_;
  }
  Clients current_clients() {
    const std::lock_guard guard(mutex_);
    for (auto& [tag, stop] : stops_) stop.request_stop();
    return clients_;
  }
  std::string close() {
    closed_ = true;
    for (const auto& each : clients()) each->close();
    return "";
  }

  /// A single lock, for questions; of several servers on the first.
  KeyLock key_lock(const std::string& name) {
    if (simple_) return client().simple_lock(name);
    return client().lock(name);
  }

  BasicLock lock_of(const std::string& name) {
    if (kind_ == "lock") return client().lock(name);
    if (kind_ == "simple") return client().simple_lock(name);
    const Clients all = clients();
    const std::lock_guard guard(mutex_);
    const auto found = groups_.find(name);
    if (found != groups_.end()) return found->second;
    return groups_
        .emplace(name,
                 simple_ ? group<SimpleLock>(name, all, &Client::simple_lock) : group<Lock>(name, all, &Client::lock))
        .first->second;
  }
  template <class Kind>
  BasicLock group(const std::string& name, const Clients& all,
                  Kind (Client::*make)(std::string_view, AcquireOptions)) const {
    std::vector<Kind> members;
    if (kind_ == "red") {
      for (const auto& each : all) members.push_back((each.get()->*make)(name, {}));
      return RedLock(members);
    }
    for (const std::string& part : split_list(name)) {
      members.push_back((all[members.size() % all.size()].get()->*make)(part, {}));
    }
    return MultiLock(members);
  }
  /// The thread's own handle, which can still be asked when the client is closed.
  BasicLock& lock_of(const std::string& name, TakerThread& thread) {
    const auto found = thread.locks.find(name);
    return found != thread.locks.end() ? found->second : thread.locks.emplace(name, lock_of(name)).first->second;
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

  static std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

  static std::string word(const std::error_code& code) {
    static const std::map<Errc, std::string> kWords{
        {Errc::busy, "busy"},
        {Errc::timed_out, "timed_out"},
        {Errc::cancelled, "cancelled"},
        {Errc::lost, "lost"},
        {Errc::not_owner, "not_owner"},
        {Errc::unreachable, "unreachable"},
        {Errc::unknown_outcome, "unknown_outcome"},
        {Errc::denied, "denied"},
        {Errc::wrong_type, "wrong_type"},
        {Errc::invalid_argument, "invalid_argument"},
        {Errc::closed, "closed"},
        {Errc::no_quorum, "no_quorum"},
        {Errc::would_deadlock, "would_deadlock"},
    };
    for (const auto& [errc, text] : kWords) {
      if (code == errc) return text;
    }
    return "failed";
  }

  const OnAnswer on_answer_;
  std::mutex answer_mutex_;  // one answer at a time
  std::mutex mutex_;         // guards what follows
  Clients clients_;
  std::map<std::string, BasicLock> groups_;  // of several locks, by name: they count and queue by object
  // Written by connect only, before any other command.
  bool hold_face_ = false;
  std::string kind_ = "lock";
  bool simple_ = false;                      // over the SET NX PX family
  std::shared_ptr<TakerReleases> releases_;  // if unlocking does not wait
  std::atomic<bool> closed_{false};          // nothing is told any more
  std::map<std::string, std::stop_source> stops_;
  std::map<long long, std::unique_ptr<TakerThread>> threads_;
};

}  // namespace holdfast::test
