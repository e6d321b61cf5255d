// SPDX-License-Identifier: Apache-2.0
// `holdfast watch`: what happens to locks, a line for each event.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include "base/clock.hpp"
#include "cli/console.hpp"
#include "cli/fd.hpp"
#include "cli/json.hpp"
#include "cli/signals.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"
#include "cli/watch_memory.hpp"
#include "face/inquiry/key_news.hpp"

namespace holdfast::cli {
namespace {

using base::Clock;
using base::TimePoint;
using std::chrono::milliseconds;

/// Changes of one name that come closer together are one look, and no look begins sooner after another.
constexpr milliseconds kTogether{50};
/// How many names are looked at together.
constexpr std::size_t kMostAtOnce = 500;
/// After the end of a lease, until the server must have noticed too.
constexpr milliseconds kLeeway{10};
/// How often all names are looked at though the server tells of changes: it, or a proxy, may do so badly.
constexpr std::chrono::seconds kCheck{60};

const char* name_of(WatchEvent::What what) {
  constexpr std::array kNames{"held", "taken", "released", "expired", "ended", "changed-hands"};
  return kNames.at(static_cast<std::size_t>(what));
}

std::chrono::system_clock::time_point time_of(const WatchEvent& event) {
  const auto ago = std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::now() - event.told);
  return std::chrono::system_clock::now() - ago;
}

std::string in_line(const WatchEvent& event, const std::string& node) {
  const auto who = [&](const LockHolder& holder) {
    const char* const reader = holder.mode == LockHolder::Mode::shared ? " (reader)" : " (writer)";
    return holder_in_words(holder) + (is_read_write(event.kind) ? reader : "");
  };
  return fmt::format("{}  {:<13}  {:<10}  {}  {}{}{}{}\n", time_in_words(time_of(event)), name_of(event.what),
                     row_of(event.kind).name, printable(event.name), event.before ? who(*event.before) + " -> " : "",
                     who(event.holder), node.empty() ? "" : "  " + node, event.late ? "  (seen late)" : "");
}

std::string in_json(const WatchEvent& event, const std::string& node) {
  using What = WatchEvent::What;
  boost::json::object out;
  out["at_ms"] = std::chrono::duration_cast<milliseconds>(time_of(event).time_since_epoch()).count();
  out["event"] = name_of(event.what);
  out["kind"] = row_of(event.kind).name;
  put_text(out, "name", event.name);
  for (auto& [key, value] : cli::to_json(event.holder)) out[key] = std::move(value);
  const bool over = event.what == What::released || event.what == What::expired || event.what == What::ended;
  if (over) out["remaining_ms"] = nullptr;
  out["before"] = nullptr;
  if (event.before) out["before"] = cli::to_json(*event.before);
  out["late"] = event.late;
  out["node"] = node;
  return json_line(out);
}

/// What all servers' watches have in common.
struct Watch {
  std::string pattern = "*";
  std::vector<LockKind> kinds{};
  milliseconds interval{1000};
  const Console* console = nullptr;
  bool several = false;  ///< Servers.

  std::mutex mutex{};  ///< Of the output, whose lines must not mix; and of the failure.
  std::exception_ptr failure{};
  EventFd failed{};
};

/// Watches one server in a thread of its own, which also writes: while nobody reads, it does not look.
class WatchedServer {
 public:
  WatchedServer(Config config, Watch& watch)
      : watch_(watch),
        client_(std::move(config)),
        news_(client_, beginning_of(watch.pattern), [&](auto name) { return matches(watch.pattern, name); }) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

 private:
  void run(const std::stop_token& stop) noexcept {
    try {
      news_.wait(stop, Clock::now() + watch_.interval);  // so that the first look misses nothing
      while (!stop.stop_requested()) {
        step();
        news_.wait(stop, next() - kTogether);
        std::this_thread::sleep_for(kTogether);
      }
    } catch (...) {
      const std::scoped_lock guard(watch_.mutex);
      watch_.failure = std::current_exception();
      watch_.failed.set();
    }
  }

  /// When there is something to do though nothing is told.
  TimePoint next() const {
    if (!tells_ || all_) return next_look_;
    const std::optional<TimePoint> end = memory_.next_end();
    return end ? std::min(*end + kLeeway, next_check()) : next_check();
  }
  TimePoint next_check() const { return next_look_ - watch_.interval + kCheck; }

  void step() {
    detail::KeyNews::News news = news_.take(kMostAtOnce);
    say_how(news);
    tells_ = news.tells;
    gap_ = gap_ || news.lost;
    late_ = late_ || news.all || news.lost;
    const TimePoint now = Clock::now();
    const bool due = !tells_ || now >= next_check();
    all_ = all_ || news.all || news.lost || news.began || due;
    try {
      if (!all_) look_at(std::move(news.changed), now);
      if (all_ && now >= next_look_) look_at_all(now);
    } catch (const Error& error) {
      if (!error.may_pass() || error.code() == Errc::exhausted) throw;
      all_ = gap_ = late_ = true;
      if (std::exchange(trouble_, error.code()) == error.code()) return;
      watch_.console->note(fmt::format("{}; trying again", error.what()));
    }
  }

  void say_how(const detail::KeyNews::News& news) {
    if (!news.tells && news.why_not.empty()) return;
    std::string how = news.tells ? fmt::format("{} tells of each change", client_.node())
                                 : fmt::format("{} does not tell of changes ({}), so there is a look every {}",
                                               client_.node(), news.why_not, in_words(watch_.interval));
    if (how != how_) watch_.console->note(how);
    how_ = std::move(how);
  }

  void look_at_all(TimePoint now) {
    next_look_ = now + watch_.interval;
    const auto found = list_kinds(client_, watch_.pattern, watch_.kinds, InfoDetail::holder_if_cheap);
    if (gap_ && begun_) watch_.console->note(fmt::format("{}: connection lost; looked again", client_.node()));
    show(memory_.take_all(found, {now, Clock::now(), begun_ && (late_ || tells_)},
                          [this](const std::string& name) { return news_.has(name); }));
    begun_ = true;
    all_ = gap_ = late_ = false;
    trouble_.clear();
  }

  void look_at(std::vector<detail::KeyNews::Changed> changed, TimePoint now) {
    std::map<std::string, TimePoint> told;
    for (detail::KeyNews::Changed& each : changed) told.emplace(std::move(each.name), each.told);
    for (std::string& name : memory_.ended_by(now - kLeeway)) told.try_emplace(std::move(name), now);
    std::vector<std::string> names;
    for (const auto& [name, time] : told) names.push_back(name);
    // Most have only been renewed, and who holds them is known.
    std::map<std::string, FoundLock> found;
    const auto look = [&](InfoDetail detail) {
      for (FoundLock& each : look_at_names(client_, names, watch_.pattern, watch_.kinds, detail)) {
        std::string name = each.lock.name;
        found.insert_or_assign(std::move(name), std::move(each));
      }
    };
    look(InfoDetail::owner);
    std::erase_if(names, [&](const std::string& name) {
      const auto at = found.find(name);
      return at == found.end() || memory_.knows(at->second);
    });
    look(InfoDetail::holder_if_cheap);
    std::vector<WatchEvent> events;
    for (const auto& [name, time] : told) {
      const auto at = found.find(name);
      for (WatchEvent& each : memory_.take(name, at != found.end() ? &at->second : nullptr, {now, time, false})) {
        events.push_back(std::move(each));
      }
    }
    std::ranges::stable_sort(events, {}, &WatchEvent::told);
    show(events);
  }

  void show(const std::vector<WatchEvent>& events) {
    if (memory_.is_full()) {
      throw Error(Errc::exhausted, {}, client_.node(), "more locks than can be watched; give a narrower pattern",
                  false);
    }
    const std::string node = client_.node();
    std::string text;
    for (const WatchEvent& each : events) {
      text += watch_.console->json() ? in_json(each, node) : in_line(each, watch_.several ? node : "");
    }
    if (text.empty()) return;
    const std::scoped_lock guard(watch_.mutex);
    watch_.console->result(text);
  }

  Watch& watch_;
  const Client client_;
  detail::KeyNews news_;
  WatchMemory memory_;
  TimePoint next_look_ = Clock::now();  // at all names, at the earliest
  bool tells_ = false;
  bool all_ = true;     // look at all names as soon as possible
  bool late_ = false;   // what that finds may have happened long before
  bool gap_ = false;    // since there was no connection
  bool begun_ = false;  // there was a first look
  std::error_code trouble_;
  std::string how_;
  std::jthread thread_;
};

/// Returns when a signal asks for the end, or nobody reads any more.
void await_end(const SignalGate& signals, Watch& watch) {
  std::array polled{pollfd{signals.fd(), POLLIN, 0}, pollfd{watch.failed.get(), POLLIN, 0},
                    pollfd{STDOUT_FILENO, 0, 0}};
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[1].revents != 0) {
      const std::scoped_lock guard(watch.mutex);
      std::rethrow_exception(watch.failure);
    }
    if ((polled[2].revents & (POLLERR | POLLHUP)) != 0) return;
    while (const std::optional<int> signal = signals.next()) {
      if (SignalGate::is_ending(*signal)) return;
    }
  }
}

class WatchVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kinds(watch_.kinds);
    line.duration("-n, --interval TIME", watch_.interval,
                  R"(how often to look, where the server does not tell of changes; default 1s)", milliseconds(100));
  }
  void accept(const CommandLine& line) override {
    watch_.pattern = line.at_most_one("the pattern").value_or(watch_.pattern);
    for (const LockKind kind : watch_.kinds) {
      if (!is_number(kind)) continue;
      const char* const name = row_of(kind).name;
      throw UsageError(
          fmt::format("watch: nobody holds a {}, so nothing of it is taken or released; "
                      "holdfast ls --kind {} shows its number",
                      name, name));
    }
    if (watch_.kinds.empty()) watch_.kinds = kinds_for(watch_.pattern);
  }
  int run(const Console& console) override;

 private:
  Watch watch_;
};

/// Does not return, unless it fails.
int WatchVerb::run(const Console& console) {
  const SignalGate signals;     // before any thread
  signals.refuse_suspension();  // the server keeps what is not read
  std::vector<Config> configs = make_configs(console);
  watch_.console = &console;
  watch_.several = configs.size() > 1;
  std::vector<std::unique_ptr<WatchedServer>> servers;
  for (Config& config : configs) {
    if (config.label.empty()) config.label = "watch";
    servers.push_back(std::make_unique<WatchedServer>(std::move(config), watch_));
  }
  try {
    await_end(signals, watch_);
  } catch (const std::system_error& error) {
    const bool unheard = error.code() == std::errc::broken_pipe || error.code() == std::errc::io_error;
    if (!unheard) throw;  // the reader or the terminal is gone, which also ends it
  }
  // At once, even during a query: nothing is held, so there is nothing to release.
  std::_Exit(kExitOk);
}

}  // namespace

extern const VerbEntry watch_verb{.name = "watch",
                                  .summary = R"(what happens to locks, as it happens)",
                                  .head = R"(holdfast watch [OPTIONS] [PATTERN]

Says what happens to locks, a line for each event, until a signal ends it: the time, the event, the kind of lock, its
name, and who has it, or had it. PATTERN: only these locks, as in ls. Nothing is asked of those who hold or wait.

The server tells of changes (CLIENT TRACKING), and what has changed is looked at. Where it does not (a cluster, RESP2,
a proxy, a user without that permission) there is a look at all names every second. It says first which of the two.

  held           it was held at the first look
  taken          somebody has got it
  released       before its time was over: given back, or taken away (break, DEL), which leave the same
  expired        its time was over
  ended          one of these two, while there was no connection
  changed-hands  somebody else has it than at the last look; it may have been free, or others', in between

What is found after a connection was lost is marked (seen late). Of what happens within 50 ms only the end is told.
)",
                                  .end = R"(
Exit codes
  0   ended by a signal                    64  wrong usage
  69  the server refuses                   70  internal error

Examples
  holdfast watch
  holdfast watch 'billing:*'
  holdfast watch --json | jq -c 'select(.event == "expired") | [.name, .holder.host]'
)",
                                  .make = make_verb<WatchVerb>};

}  // namespace holdfast::cli
