// `holdfast top`: a live view of holders and waiters.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/connect.hpp"
#include "cli/fd.hpp"
#include "cli/json.hpp"
#include "cli/screen.hpp"
#include "cli/server_watch.hpp"
#include "cli/signals.hpp"
#include "cli/top_view.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using base::Clock;
using base::TimePoint;

/// Queries the servers in the background; the display is at most one look old, unless a server hangs.
class Top {
 public:
  Top(std::vector<Config> configs, const TopOptions& options, const Console& console)
      : interval_(options.interval), console_(console) {
    for (Config& config : configs) {
      if (config.label.empty()) config.label = "top";
      watches_.push_back(std::make_unique<ServerWatch>(
          std::move(config),
          ServerWatch::Settings{
              .pattern = options.pattern, .interval = interval_, .doctor = {}, .keep = true, .looked = [this] {
                looked_.set();
              }}));
    }
    shown_.resize(watches_.size());
  }

  int looked() const { return looked_.get(); }
  int overdue() const { return overdue_.get(); }

  /// Shows new results once there is a new look at each server, or one of them hangs.
  void refresh(const Screen* screen) {
    looked_.take();
    std::vector<SeenServer> seen;
    bool all = true;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      seen.push_back(watches_[i]->seen());
      all = all && seen.back().looks > shown_[i];
    }
    const TimePoint now = Clock::now();
    if (!all && now < late_) return;
    for (std::size_t i = 0; i < seen.size(); ++i) shown_[i] = seen[i].looks;
    late_ = now + 2 * interval_;
    overdue_.arm(late_);
    view_ = memory_.take(std::move(seen), now);
    view_.sort(order_);
    show(screen);
  }
  void sort_by_next() {
    order_ = next(order_);
    view_.sort(order_);
  }
  void show_keys_or_not() { shows_keys_ = !shows_keys_; }
  /// Shows the same as before.
  void show(const Screen* screen) const {
    if (screen != nullptr) {
      screen->draw(
          Shown(fmt::format("holdfast top: {} held, {} waiting; every {}; q ends it, ? shows the keys\n{}\n{}",
                            view_.rows.size(), waiting(), in_words(interval_),
                            shows_keys_ ? "q: end   s: sort by the next column   ctrl-z: suspend   ?: hide this\n" : "",
                            view_.in_lines())));
    } else if (console_.json()) {
      console_.result(json_line(view_.in_json(std::chrono::system_clock::now())));
    } else {
      console_.result(view_.in_lines() + "\n");
    }
  }

 private:
  std::uint64_t waiting() const {
    std::uint64_t all = 0;
    for (const TopRow& row : view_.rows) all += row.waiting();
    return all;
  }

  const std::chrono::milliseconds interval_;
  const Console& console_;
  EventFd looked_;
  Timer overdue_;
  std::vector<std::unique_ptr<ServerWatch>> watches_;
  std::vector<std::uint64_t> shown_;  // the number of looks at each server in what is shown
  TimePoint late_ = Clock::now() + 2 * interval_;
  TopMemory memory_;
  TopView view_;
  TopOrder order_ = TopOrder::waiters;
  bool shows_keys_ = false;
};

/// Returns false at the end.
bool take_keys(Screen& screen, Top& top) {
  for (;;) {
    switch (screen.next_key()) {
      case Screen::Key::none:
        return true;
      case Screen::Key::quit:
        return false;
      case Screen::Key::suspend:
        screen.suspend();
        top.show(&screen);
        break;
      case Screen::Key::sort:
        top.sort_by_next();
        top.show(&screen);
        break;
      case Screen::Key::help:
        top.show_keys_or_not();
        top.show(&screen);
        break;
      case Screen::Key::other:
        break;
    }
  }
}

/// Returns false at the end.
bool take_signals(const SignalGate& signals, Screen* screen, const Top& top) {
  while (const std::optional<int> signal = signals.next()) {
    if (SignalGate::is_ending(*signal)) return false;
    if (screen == nullptr) continue;
    if (*signal == SIGCONT) screen->take_over();
    if (*signal == SIGCONT || *signal == SIGWINCH) top.show(screen);
  }
  return true;
}

void watch(const SignalGate& signals, Screen* screen, Top& top) {
  bool goes_on = true;
  while (goes_on) {
    const int keys = screen != nullptr ? screen->keys() : -1;
    wait_readable(std::array{signals.fd(), keys, top.looked(), top.overdue()});
    goes_on = take_signals(signals, screen, top);
    if (goes_on && keys >= 0) goes_on = take_keys(*screen, top);
    if (goes_on) top.refresh(screen);
  }
}

}  // namespace

int top(const CommonOptions& common, const TopOptions& options, const Console& console) {
  const SignalGate signals;  // before any thread
  Top top(make_configs(common, console), options, console);
  std::optional<Screen> screen;
  try {
    if (Screen::exists() && !console.json()) screen.emplace();
    watch(signals, screen ? &*screen : nullptr, top);
  } catch (const std::system_error& error) {
    const bool unheard = error.code() == std::errc::broken_pipe || error.code() == std::errc::io_error;
    if (!unheard) throw;  // the reader or the terminal is gone, which also ends it
  }
  screen.reset();
  // At once, even during a query: nothing is held, so there is nothing to release.
  std::_Exit(kExitOk);
}

}  // namespace holdfast::cli
