// SPDX-License-Identifier: Apache-2.0
#include "cli/run/lock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

#include "base/clock.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// How long the query for the holder may take, before and after the wait. Before, it is part of the wait, and at most
/// half of it.
constexpr milliseconds kAskBefore{1000};
constexpr milliseconds kAskAfter{300};

/// Between two attempts at a server that has never been reached.
constexpr milliseconds kFirstRetry{100};
constexpr milliseconds kLongestRetry{1000};

/// How long the tool tries to release a lock that is lost, or could not be renewed.
constexpr milliseconds kLastWord{300};

/// How long a firing is remembered, which limits how far apart its first and last start may be.
constexpr std::chrono::hours kFiringLife{24};

constexpr milliseconds kAskOnce{0};

/// How long the number of permits stays after the last run, so that names that are used once leave nothing.
constexpr std::chrono::hours kMaxLives{24};

/// When a run sees to it that there is still a number, which it does not change: at first after this time, then ever
/// less often.
constexpr milliseconds kFirstCheck{10'000};
constexpr milliseconds kLongestCheck{600'000};

template <auto Make>
BasicLock made_of(const std::vector<Client>& clients, const std::vector<std::string>& names) {
  std::vector<MultiLock> on_each;
  for (const Client& client : clients) {
    std::vector<decltype((client.*Make)(names.front(), {}))> members;
    for (const std::string& name : names) members.push_back((client.*Make)(name, {}));
    on_each.emplace_back(members);
  }
  if (on_each.size() == 1) return on_each.front();
  return RedLock(on_each);
}

/// Readers do not exclude readers.
bool in_the_way(const LockInfo& info, LockKind kind) {
  if (kind != LockKind::read) return !info.owner.empty();
  const auto writes = [](const LockHolder& holder) { return holder.mode == LockHolder::Mode::exclusive; };
  return std::ranges::any_of(info.holders, writes);
}

/// The held ones among these locks; for the first, also who holds it. Only for a message, so failures are left for the
/// acquire to report.
std::optional<std::vector<LockInfo>> held(const std::vector<KeyLock>& locks, LockKind kind) {
  std::vector<LockInfo> found;
  try {
    for (const KeyLock& lock : locks) {
      LockInfo info = lock.info(found.empty() ? InfoDetail::holder_if_cheap : InfoDetail::owner);
      if (in_the_way(info, kind)) found.push_back(std::move(info));
    }
  } catch (const Error&) {
    if (found.empty()) return std::nullopt;
  }
  return found;
}

bool is_in_vain(const Error& error) { return error.code() == Errc::busy || error.code() == Errc::timed_out; }

/// Ends early if it is stopped.
void sleep(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock guard(mutex);
  stopped.wait_for(guard, stop, time, [] { return false; });
}

/// The name of a mark of this lock, in the slot of the lock unless that has a prefix and no hash tag.
std::string mark_name(std::string_view lock, std::string_view what) {
  const bool whole = lock.find('}') == lock.npos;
  return whole ? fmt::format("{{{}}}:{}", lock, what) : fmt::format("{}:{}", lock, what);
}

}  // namespace

/// Takes the lock in a thread of its own, so that the main thread can handle signals meanwhile. Starts at construction;
/// the destructor stops it and waits for its end.
class RunLock::Acquisition {
 public:
  Acquisition(RunLock& run, const BasicLock& lock, AcquireOptions options) : run_(run) {
    options.stop = stop_.get_token();
    worker_ = std::jthread([this, lock, options = std::move(options)] {
      for (milliseconds time = kFirstRetry; !try_once(lock, options); time = std::min(2 * time, kLongestRetry)) {
        pause(time);
      }
      result_.waited = base::Clock::now() - start_;
      done_.set();
    });
  }
  ~Acquisition() { stop(); }

  /// Readable when it is over, until done() has returned true.
  int done_fd() const { return done_.get(); }
  bool done() const { return done_.take(); }
  /// Ends the wait and leaves nothing on the server. Does not wait for the end.
  void stop() { stop_.request_stop(); }
  /// Waits for the end.
  AcquisitionResult take() {
    worker_.join();
    return std::move(result_);
  }

 private:
  bool reports() const { return run_.console_.json() || run_.options_.status_fd; }
  /// If one of several is held, the others may still be free.
  bool asks_before() const {
    return !run_.options_.any && (run_.console_.verbose() || reports() || !owners_around().empty());
  }
  bool asks_after() const { return reports() || !run_.console_.quiet(); }
  /// How long servers that have never been reached are tried again, from now on. Connecting is part of the wait.
  /// Without a limit, a server that is not up yet gets the same patience as one that has gone away. A candidate of
  /// `elect` retries by itself.
  milliseconds left() const {
    const milliseconds limit = run_.options_.campaigns ? milliseconds() : run_.options_.wait.value_or(run_.patience_);
    return std::chrono::ceil<milliseconds>(start_ + limit - base::Clock::now());
  }

  /// True once `result_` says how it ended.
  bool try_once(const BasicLock& lock, AcquireOptions options);
  void say_how_many(milliseconds limit);
  bool may_be_tried_again(const Error& error);
  void pause(milliseconds time) const;

  RunLock& run_;
  const base::TimePoint start_ = base::Clock::now();
  bool told_ = false;  // that it retries
  std::stop_source stop_;
  EventFd done_;
  AcquisitionResult result_;  // the worker's until it has ended
  std::jthread worker_;
};

bool RunLock::Acquisition::try_once(const BasicLock& lock, AcquireOptions options) {
  const auto limit_wait = [&, whole = options.wait] {
    const auto gone = std::chrono::duration_cast<milliseconds>(base::Clock::now() - start_);
    if (whole && *whole > milliseconds::zero()) options.wait = std::max(milliseconds(1), *whole - gone);
  };
  bool answers = true;
  try {
    if (asks_before() && options.wait != milliseconds::zero()) {
      limit_wait();
      const auto holders = run_.holders(std::min(kAskBefore, options.wait.value_or(milliseconds::max()) / 2));
      answers = holders.has_value();
      if (answers && !holders->empty()) {
        result_.holder = holders->front();
        refuse_to_wait_for_ourselves(*holders);
        run_.console_.detail(
            fmt::format("{}: held by {}, waiting", run_.report_.lock_in_words(), holder_in_words(holders->front())));
      }
    }
    // After the question, which may refuse to wait: then nothing has been changed.
    if (run_.options_.max) {
      limit_wait();
      const bool has_limit = options.wait && *options.wait > milliseconds::zero();
      say_how_many(has_limit ? *options.wait : run_.patience_);
    }
    limit_wait();
    result_.hold = lock.acquire(options);
  } catch (const Error& error) {
    if (may_be_tried_again(error)) return false;
    result_.failure = std::current_exception();
    if (asks_after() && is_in_vain(error) && answers && !stop_.stop_requested()) {
      const auto holders = run_.holders(kAskAfter);
      if (holders && !holders->empty()) result_.holder = holders->front();
    }
  } catch (...) {
    result_.failure = std::current_exception();
  }
  return true;
}

/// Sets the total number of permits, replacing any earlier one. Throws Error, also if there is no answer within
/// `limit`, or before the stop.
void RunLock::Acquisition::say_how_many(milliseconds limit) {
  struct Saying {
    std::counting_semaphore<2> over{0};  // by the answer, or by the stop
    std::atomic<bool> answered{false};
    std::exception_ptr failure;
  };
  const auto saying = std::make_shared<Saying>();
  const Client& client = run_.servers_.first();
  const std::string& name = run_.options_.names.front();
  const int permits = *run_.options_.max;
  run_.late_calls_.push_back(std::async(std::launch::async, [saying, permits, all = client.leased_semaphore(name)] {
    try {
      all.set_total(permits, kMaxLives);
    } catch (...) {
      saying->failure = std::current_exception();
    }
    saying->answered = true;
    saying->over.release();
  }));
  const std::stop_callback stopped(stop_.get_token(), [saying] { saying->over.release(); });
  std::ignore = saying->over.try_acquire_for(limit);
  if (!saying->answered) {
    if (stop_.stop_requested()) throw Error(Errc::cancelled, name, client.node(), {});
    throw Error(Errc::unreachable, name, client.node(), "no answer in time to how many permits there are");
  }
  if (saying->failure) std::rethrow_exception(saying->failure);
}

bool RunLock::Acquisition::may_be_tried_again(const Error& error) {
  const milliseconds rest = left();
  if (is_in_vain(error) || !error.may_pass() || rest <= milliseconds::zero() || stop_.stop_requested() ||
      run_.reached()) {
    return false;
  }
  if (!std::exchange(told_, true)) {
    run_.console_.note(fmt::format("{}; trying again for {}", error.what(), in_words(rest)));
  }
  return true;
}

/// Ends with the wait.
void RunLock::Acquisition::pause(milliseconds time) const { sleep(std::min(time, left()), stop_.get_token()); }

RunLock::RunLock(const RunOptions& options, const Console& console, RunReport& report, std::vector<Config> configs)
    : options_(options),
      console_(console),
      report_(report),
      patience_(configs.front().timing.patience),
      servers_(std::move(configs)) {
  report_.node = servers_.in_words();
  report_.nodes = servers_.nodes();
}

BasicLock RunLock::lock() const {
  const std::vector<std::string>& names = options_.names;
  if (options_.any) {
    if (options_.kind != LockKind::lock || servers_.several()) {
      throw UsageError("run: --any is for --kind lock on one server");
    }
    return servers_.first().any_lock(names);
  }
  if (const char* const why = row_of(options_.kind).alone) {
    if (names.size() > 1 || servers_.several()) throw UsageError(why);
    return key_lock(servers_.first(), names.front(), options_.kind);
  }
  return options_.kind == LockKind::simple ? made_of<&Client::simple_lock>(servers_.clients(), names)
                                           : made_of<&Client::lock>(servers_.clients(), names);
}

AcquisitionResult RunLock::acquire(const RunTimes& times, const SignalGate& signals) {
  if ((options_.fresh || options_.at) && servers_.several()) {
    throw UsageError("run: --fresh and --at are for one server");
  }
  const BasicLock all = lock();
  report_.name = all.name();
  AcquireOptions options;
  options.wait = options_.wait;
  options.lease = options_.fixed ? fixed(times.lease) : renewed(times.lease);
  options.max_hold = options_.max_hold;
  Acquisition acquisition(*this, all, options);
  if (options_.max) keep_number();
  while (interrupted_by_ == 0 && !acquisition.done()) {
    wait_readable(std::array{signals.fd(), acquisition.done_fd()});
    while (const std::optional<int> signal = signals.next()) {
      if (SignalGate::is_ending(*signal)) interrupted_by_ = *signal;
    }
  }
  if (interrupted_by_ != 0) acquisition.stop();
  return acquisition.take();
}

/// A number that has expired or was evicted would end no wait.
void RunLock::keep_number() {
  number_keeper_ =
      std::jthread([permits = *options_.max,
                    all = servers_.first().leased_semaphore(options_.names.front())](const std::stop_token& stop) {
        for (milliseconds time = kFirstCheck;; time = std::min(2 * time, kLongestCheck)) {
          sleep(time, stop);
          if (stop.stop_requested()) return;
          try {
            std::ignore = all.init(permits, kMaxLives);
          } catch (const Error&) {
            // The wait itself, or the hold, reports what is wrong.
          }
        }
      });
}

std::optional<std::vector<LockInfo>> RunLock::holders(milliseconds limit) {
  std::vector<std::vector<KeyLock>> locks;
  for (const Client& client : servers_.clients()) {
    std::vector<KeyLock>& here = locks.emplace_back();
    for (const std::string& name : options_.names) here.push_back(key_lock(client, name, options_.kind));
  }
  std::optional<std::vector<LockInfo>> found;
  for (const auto& answer : servers_.ask_by(base::Clock::now() + limit, locks,
                                            [kind = options_.kind](const auto& here) { return held(here, kind); })) {
    if (!answer || !*answer) continue;
    if (!found) found.emplace();
    found->insert(found->end(), (*answer)->begin(), (*answer)->end());
  }
  return found;
}

bool RunLock::reached() const {
  const auto connected = [](const Client& client) { return client.counters().connections > 0; };
  const std::vector<Client>& clients = servers_.clients();
  return static_cast<std::size_t>(std::ranges::count_if(clients, connected)) > clients.size() / 2;
}

int RunLock::not_acquired(const AcquisitionResult& result) {
  try {
    std::rethrow_exception(result.failure);
  } catch (const Error& error) {
    auto code = static_cast<Errc>(error.code().value());
    const bool in_vain = is_in_vain(error);
    if (in_vain && options_.wait == milliseconds::zero()) code = Errc::busy;
    // With several servers, the cause already names them.
    const Error told(code, error.key(), error.node().empty() ? "" : report_.node, error.cause(), error.may_pass());
    if (!in_vain) throw Error(told);
    Problem problem = Problem::from(told);
    problem.exit_code = options_.conflict_exit_code;
    if (result.holder) {
      const auto left = result.holder->remaining;
      // After a long wait the failure itself names the holder.
      const std::string who = holder_in_words(*result.holder);
      const bool named = told.cause().find(who) != std::string::npos;
      problem.message += fmt::format(" ({}{})", named ? printable(result.holder->owner) : who,
                                     left ? fmt::format(", {} left", in_words(*left)) : "");
    }
    report_.problem = problem;
    console_.note(problem.message);
    return problem.exit_code;
  }
}

std::optional<RunMarks::Skip> RunLock::reason_to_skip() {
  if (!options_.fresh && !options_.at) return std::nullopt;
  marks_.emplace(options_, servers_.first());
  return marks_->reason_to_skip();
}

void RunLock::command_begins() {
  if (marks_) marks_->command_begins();
}

void RunLock::command_ended(const Hold& hold, const ChildEnd& end) {
  if (!marks_) return;
  if (end.exec_error != 0) marks_->command_never_began();
  const bool succeeded = end.exec_error == 0 && end.signal == 0 && end.exit_code == 0;
  if (!succeeded || report_.lost || hold.valid_for() <= milliseconds::zero()) return;
  if (const auto trouble = marks_->command_succeeded()) console_.note(*trouble);
}

void RunLock::release(Hold& hold, milliseconds rest) {
  marks_.reset();
  if (!report_.lost) {
    report_.release = hold.leave(rest);
    return;
  }
  // The server may be silent, and waiting for it is of no use.
  last_word_ = std::async(std::launch::async,
                          [last = std::make_shared<Hold>(std::move(hold)), rest] { return last->leave(rest); });
  const bool answered = last_word_.wait_for(kLastWord) == std::future_status::ready;
  report_.release = answered ? last_word_.get() : ReleaseOutcome::unknown;
}

void RunLock::close() {
  marks_.reset();
  const bool waited_for_it = report_.lost || report_.release == ReleaseOutcome::unknown;
  // With several servers, some may not have received the release yet.
  const bool done = report_.release == ReleaseOutcome::released || report_.release == ReleaseOutcome::left;
  const bool settled = done && !servers_.several();
  if (!waited_for_it && !settled) servers_.close();
}

RunMarks::~RunMarks() {
  if (!firing_ || !begun_) return;  // the destructor releases it
  try {
    std::ignore = firing_->detach();
  } catch (const Error&) {
    // It is gone, so nothing can be left.
  }
}

std::optional<RunMarks::Skip> RunMarks::reason_to_skip() {
  if (options_.fresh) {
    const LockInfo seen = mark("holdfast_succeeded").info(InfoDetail::owner);
    if (!seen.owner.empty()) {
      const std::string due = seen.remaining ? fmt::format("it is due again in {}", in_words(*seen.remaining))
                                             : std::string("nothing says when it is due again");
      return Skip{"fresh", fmt::format("the command has succeeded already; {}", due)};
    }
  }
  if (options_.at) {
    MaybeHold mine = mark("holdfast_at:" + *options_.at).try_acquire({.wait = kAskOnce, .lease = fixed(kFiringLife)});
    if (!mine) return Skip{"at", fmt::format("a command has already begun for {}", *options_.at)};
    firing_.emplace(std::move(*mine));
  }
  return std::nullopt;
}

std::optional<std::string> RunMarks::command_succeeded() {
  if (!options_.fresh) return std::nullopt;
  try {
    MaybeHold mark_of_it = mark("holdfast_succeeded").try_acquire({.wait = kAskOnce, .lease = fixed(*options_.fresh)});
    if (mark_of_it) std::ignore = mark_of_it->detach();
  } catch (const Error& error) {
    return fmt::format("that the command has succeeded is not known to others: {}", error.what());
  }
  return std::nullopt;
}

SimpleLock RunMarks::mark(std::string_view what) const {
  return client_.simple_lock(mark_name(options_.names.front(), what));
}

}  // namespace holdfast::cli
