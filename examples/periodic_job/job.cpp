// SPDX-License-Identifier: Apache-2.0
#include "periodic_job/job.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <signal.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async.hpp>

namespace periodic_job {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

class Journal {
 public:
  Journal(const std::string& file, std::string name)
      : name_(std::move(name)), descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file);
  }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() { close(descriptor_); }

  void write(double when, const char* what) {
    char line[128];
    const int length = std::snprintf(line, sizeof line, "%.3f %s %s\n", when, name_.c_str(), what);
    if (::write(descriptor_, line, static_cast<std::size_t>(length)) != length) {
      throw std::system_error(errno, std::generic_category(), "journal");
    }
  }

 private:
  std::string name_;
  int descriptor_;
};

class Instance {
 public:
  Instance(asio::io_context& context, const std::string& url, const std::string& file, const std::string& name)
      : journal_(file, name),
        client_(holdfast::client_on(context, url)),
        lock_(client_.lock("example:leader")),
        signals_(context, SIGINT, SIGTERM) {}

  asio::awaitable<void> run() {
    co_await (take_turns() || signals_.async_wait(asio::use_awaitable));
    co_await client_.async_close();
  }

 private:
  asio::awaitable<void> take_turns() {
    for (;;) {
      try {
        co_await holdfast::with_lock(lock_, options_, [this](holdfast::Hold& hold) { return lead(hold); });
        journal_.write(now_ms(), "yields");
      } catch (const holdfast::Error& error) {
        if (error.code() == holdfast::Errc::cancelled) throw;  // told to stop while it waited
        if (error.code() == holdfast::Errc::lost) journal_.write(now_ms(), "lost");
        std::cerr << error.what() << std::endl;  // the server may be away: try again
      }
      co_await pause(kTerm / 5);  // whoever waits comes first
    }
  }

  asio::awaitable<void> lead(holdfast::Hold& hold) {
    journal_.write(now_ms(), "leads");
    co_await (run_jobs(hold) || pause(kTerm));
  }

  asio::awaitable<void> run_jobs(holdfast::Hold& hold) {
    asio::steady_timer next(co_await asio::this_coro::executor, asio::steady_timer::clock_type::now());
    for (;;) {
      step(hold, "begin");
      co_await pause(kWork);  // the job itself: cancelled when the lock is lost, and when the term is over
      step(hold, "end");
      next.expires_at(next.expiry() + kEvery);
      co_await next.async_wait(asio::use_awaitable);
    }
  }

  /// A step of the job that nobody but the leader may take. The loop that would cancel it may itself have stood still,
  /// so it looks before it acts. The time is from before the look: at that time the lock was ours, whatever comes now.
  void step(const holdfast::Hold& hold, const char* what) {
    const double when = now_ms();
    hold.throw_if_lost();
    journal_.write(when, what);
  }

  Journal journal_;
  holdfast::Client client_;
  holdfast::Lock lock_;
  const holdfast::AcquireOptions options_{.lease = holdfast::renewed(kLease)};
  asio::signal_set signals_;
};

}  // namespace

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run(const std::string& url, const std::string& file, const std::string& name) {
  asio::io_context context(1);
  Instance instance(context, url, file, name);
  asio::co_spawn(context, instance.run(), [](const std::exception_ptr& problem) {
    if (problem) std::rethrow_exception(problem);
  });
  context.run();
}

}  // namespace periodic_job
