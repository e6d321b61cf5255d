// SPDX-License-Identifier: Apache-2.0
#include "coroutines.hpp"

#include <exception>
#include <future>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include <holdfast/async.hpp>

namespace bench {
namespace {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
using Coroutine = asio::awaitable<void, Executor>;

/// Counts coroutines that are to be waited for; the first exception of one is thrown to who waits.
class Group {
 public:
  explicit Group(std::size_t count) : left_(count) {
    if (count == 0) over_.set_value();
  }
  void one_over(const std::exception_ptr& thrown) {
    if (thrown && !thrown_) thrown_ = thrown;
    if (--left_ > 0) return;
    if (thrown_) {
      over_.set_exception(thrown_);
    } else {
      over_.set_value();
    }
  }
  void wait() { over_.get_future().get(); }

 private:
  std::size_t left_;  // as thrown_, of the thread that runs them
  std::exception_ptr thrown_;
  std::promise<void> over_;
};

struct Crowd {
  explicit Crowd(long waiters) : gathered(static_cast<std::size_t>(waiters)), over(static_cast<std::size_t>(waiters)) {}
  Group gathered;
  Group over;
};

/// Of a read-write lock mostly the reader, and every twentieth time the writer.
struct Mixed {
  auto async_try_acquire(const holdfast::AcquireOptions& options) {
    return ++turn % 20 == 0 ? writer.async_try_acquire(options) : reader.async_try_acquire(options);
  }

  holdfast::ReadLock reader;
  holdfast::WriteLock writer;
  unsigned turn;
};

class Coroutines final : public Face {
 public:
  Coroutines(const holdfast::Config& config, int clients) : waits_(!config.pipelined_release) {
    for (int i = 0; i < clients; ++i) clients_.push_back(holdfast::client_on(context_, config));
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Coroutines() override {
    context_.stop();
    thread_.join();
  }

  std::function<void(Span)> pairs(Callers& callers, std::chrono::microseconds pause) override {
    return [this, &callers, pause](Span span) {
      run(callers.size(), [&](std::size_t i) { return repeat_pairs(span, client(i), callers[i], pause); });
    };
  }
  std::function<void(Span)> hot(Callers& callers, std::chrono::microseconds inside) override {
    return [this, &callers, inside](Span span) {
      run(callers.size(), [&](std::size_t i) { return hot_of_kind(span, client(i), callers[i], inside); });
    };
  }

  bool has(const std::string& kind) const override {
    return kind == "lock" || kind == "fair" || kind == "mixed" || kind == "leased" || kind == "any";
  }

  Taken take(const Thing& thing, Clock::time_point until) override {
    Taken found;
    run(1, [&](std::size_t) { return take_into(found, thing.key, until); });
    return found;
  }
  Span release(const std::string& key) override {
    Span around;
    run(1, [&](std::size_t) { return release_from(around, key); });
    return around;
  }

  std::function<void()> hold(long count, const std::string& keys) override {
    const auto places = static_cast<std::size_t>(count);
    held_.clear();
    held_.resize(places);
    return [this, places, keys] {
      std::size_t next = 0;
      run(std::min<std::size_t>(64, places), [&](std::size_t i) { return keep(client(i), next, keys); });
    };
  }

  void take_all(long locks, const std::string& keys) override { hold(locks, keys)(); }
  void gather(long waiters, long locks, const std::string& keys) override {
    crowd_ = std::make_unique<Crowd>(waiters);
    asio::post(context_, [&, waiters, locks] {
      for (long i = 0; i < waiters; ++i) {
        spawn(crowd_->over, be_let_in(client(static_cast<std::size_t>(i)), numbered(keys, i % locks)));
      }
    });
    crowd_->gathered.wait();
  }
  void let_in() override {
    run(held_.size(), [this](std::size_t i) { return give_back(held_[i]); });
    crowd_->over.wait();
    held_.clear();
  }

 private:
  holdfast::Client& client(std::size_t caller) { return clients_[caller % clients_.size()]; }

  /// Inside.
  void spawn(Group& group, Coroutine body) {
    asio::co_spawn(context_, std::move(body), [&group](const std::exception_ptr& thrown) { group.one_over(thrown); });
  }
  /// Runs a coroutine for each caller and waits for them all.
  template <class Make>
  void run(std::size_t count, Make make) {
    Group group(count);
    asio::post(context_, [&] {
      for (std::size_t i = 0; i < count; ++i) spawn(group, make(i));
    });
    group.wait();
  }

  Coroutine repeat_pairs(Span span, holdfast::Client& client, Caller& caller, std::chrono::microseconds pause) {
    const holdfast::Lock lock = client.lock(caller.thing.key);
    for (Clock::time_point begun = co_await reach(span.start); begun < span.end;) {
      holdfast::Hold hold = co_await lock.async_acquire();
      if (waits_) co_await hold.async_release();
      hold = {};
      const Clock::time_point done = Clock::now();
      caller.add(done - begun);
      begun = pause.count() > 0 ? co_await reach(done + pause) : done;
    }
  }

  Coroutine hot_of_kind(Span span, holdfast::Client& client, Caller& caller, std::chrono::microseconds inside) {
    const Thing& thing = caller.thing;
    if (thing.kind == "fair") return repeat_hot(span, client.fair_lock(thing.key), caller, inside);
    if (thing.kind == "mixed") {
      const holdfast::ReadWriteLock lock = client.read_write_lock(thing.key);
      return repeat_hot(span, Mixed{lock.reader(), lock.writer(), turn_++}, caller, inside);
    }
    if (thing.kind == "leased") return repeat_hot(span, client.leased_semaphore(thing.key), caller, inside);
    if (thing.kind == "any") return repeat_hot(span, client.any_lock(all_names(thing)), caller, inside);
    return repeat_hot(span, client.lock(thing.key), caller, inside);
  }

  static std::vector<std::string> all_names(const Thing& thing) {
    std::vector<std::string> names;
    for (long i = 0; i < thing.of; ++i) names.push_back(numbered(thing.key, i));
    return names;
  }

  template <class Lock>
  Coroutine repeat_hot(Span span, Lock lock, Caller& caller, std::chrono::microseconds inside) {
    for (Clock::time_point begun = co_await reach(span.start); begun < span.end; begun = Clock::now()) {
      std::optional<holdfast::Hold> hold;
      try {
        hold = co_await lock.async_try_acquire(until(span.end));
      } catch (const holdfast::Error&) {
        if (Clock::now() < span.end) throw;  // else all of a crowd give up at once, and some get no answer in time
      }
      const Clock::time_point entered = Clock::now();
      caller.add(entered - begun);
      if (!hold) continue;
      caller.enter(begun, entered);
      if (inside > std::chrono::milliseconds(1)) co_await reach(entered + inside);  // others are of this thread, too
      while (inside.count() > 0 && Clock::now() < entered + inside) {
      }
      co_await give_back(*hold);
    }
  }

  asio::awaitable<Clock::time_point, Executor> reach(Clock::time_point start) {
    asio::steady_timer timer(context_, start);
    co_await timer.async_wait(asio::deferred);
    co_return Clock::now();
  }

  static holdfast::AcquireOptions until(Clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    return {.wait = std::max(left, std::chrono::milliseconds(0))};
  }

  Coroutine give_back(holdfast::Hold& hold) {
    if (waits_) co_await hold.async_release();
    hold = {};
  }

  Coroutine take_into(Taken& found, const std::string& key, Clock::time_point end) {
    std::optional<holdfast::Hold> hold = co_await client(0).lock(key).async_try_acquire(until(end));
    found = {hold.has_value(), Clock::now()};
    if (hold) taken_[key] = std::move(*hold);
  }

  Coroutine release_from(Span& around, const std::string& key) {
    holdfast::Hold& hold = taken_.at(key);
    around.start = Clock::now();
    co_await give_back(hold);
    around.end = Clock::now();
  }

  Coroutine keep(holdfast::Client& client, std::size_t& next, const std::string& keys) {
    while (next < held_.size()) {
      holdfast::Hold& place = held_[next];
      const std::string key = numbered(keys, static_cast<long>(next++));
      place = co_await client.lock(key).async_acquire();
    }
  }

  Coroutine be_let_in(holdfast::Client& client, std::string key) {
    const holdfast::Lock lock = client.lock(std::move(key));
    crowd_->gathered.one_over({});
    holdfast::Hold hold = co_await lock.async_acquire();
    co_await give_back(hold);
  }

  const bool waits_;   // for the outcome of a release
  unsigned turn_ = 0;  // so that writers come one by one
  asio::io_context context_{1};
  std::vector<holdfast::Client> clients_;
  std::map<std::string, holdfast::Hold> taken_;
  std::vector<holdfast::Hold> held_;
  std::unique_ptr<Crowd> crowd_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Face> as_coroutines(const holdfast::Config& config, int clients) {
  return std::make_unique<Coroutines>(config, clients);
}

}  // namespace bench
