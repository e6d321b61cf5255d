// SPDX-License-Identifier: Apache-2.0
// `holdfast top`: a live view of holders and waiters.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <system_error>
#include <termios.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/console.hpp"
#include "cli/fd.hpp"
#include "cli/json.hpp"
#include "cli/server_watch.hpp"
#include "cli/signals.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

/// One lock as shown.
struct TopRow {
  std::string node;
  LockKind kind = LockKind::lock;
  LockInfo lock;
  /// How long this owner has been seen with it. Servers do not report when a lock was taken.
  std::chrono::milliseconds held{};
  bool held_longer = false;  ///< It already had it at the first look.

  std::uint64_t waiting() const { return lock.listeners.value_or(0) + lock.queued.value_or(0); }
};

/// What comes first; the names decide between equals.
enum class TopOrder {
  waiters,  ///< With the most waiters, then held longest.
  held,     ///< Held longest.
  ttl,      ///< With the least time to live; none comes last.
  name,     ///< The last.
};

/// All servers at one moment. Pure; times are inputs.
struct TopView {
  std::vector<SeenServer> servers;
  std::vector<TopRow> rows;
  TopOrder order = TopOrder::waiters;  ///< Of the rows.

  void sort(TopOrder by);
  /// For people: a line for each server that does not answer, and a table.
  std::string in_lines() const;
  boost::json::object in_json(std::chrono::system_clock::time_point at) const;
};

/// Remembers since when each owner has been seen. Pure; times are inputs.
class TopMemory {
 public:
  TopView take(std::vector<SeenServer> servers, base::TimePoint now);

 private:
  struct Since {
    std::string owner;
    base::TimePoint time{};
    bool longer = false;
  };
  std::map<std::string, std::map<std::string, Since>> since_;  // by server, by name; of servers that have answered
};

using std::chrono::duration_cast;
using std::chrono::milliseconds;

/// The key alone does not say more: `lock` may also be a fenced or spin lock, or a fair lock without waiters.
const char* kind(const TopRow& row) { return row_of(row.lock.queued.value_or(0) > 0 ? LockKind::fair : row.kind).name; }

std::string number(const std::optional<std::uint64_t>& count) { return count ? std::to_string(*count) : ""; }

std::string held(const TopRow& row) {
  // Tenths are useless on a screen that refreshes every two seconds.
  const auto whole = std::chrono::floor<std::chrono::seconds>(row.held);
  const std::string words = whole.count() < 100 ? fmt::format("{} s", whole.count()) : in_words(whole);
  return row.held_longer ? "> " + words : words;
}

/// The holder as `ls` names it, and how many others there are.
std::string holder(const TopRow& row) {
  const LockInfo& lock = row.lock;
  const bool has_words = !lock.holder || lock.holder->connection == Holder::Connection::open;
  if (has_words || row.kind == LockKind::permit || lock.holders.size() > 1) return holder_in_words(row.kind, lock);
  return to_string(*lock.holder);
}

bool comes_before(const TopRow& a, const TopRow& b, TopOrder order) {
  constexpr milliseconds kNever = milliseconds::max();
  switch (order) {
    case TopOrder::waiters:
      if (a.waiting() != b.waiting()) return a.waiting() > b.waiting();
      [[fallthrough]];
    case TopOrder::held:
      if (a.held != b.held) return a.held > b.held;
      break;
    case TopOrder::ttl:
      if (a.lock.remaining != b.lock.remaining) {
        return a.lock.remaining.value_or(kNever) < b.lock.remaining.value_or(kNever);
      }
      break;
    case TopOrder::name:
      break;
  }
  return std::tie(a.lock.name, a.node) < std::tie(b.lock.name, b.node);
}

/// Another order than the usual one is marked at its column.
std::vector<std::string> titles(TopOrder order) {
  std::vector<std::string> titles{"NAME", "KIND", "HELD FOR", "TTL", "WAITERS", "QUEUE", "HOLDER"};
  if (order == TopOrder::held) titles[2] += "*";
  if (order == TopOrder::ttl) titles[3] += "*";
  if (order == TopOrder::name) titles[0] += "*";
  return titles;
}

/// The order after this one; after the last the first.
TopOrder next(TopOrder order) {
  return order == TopOrder::name ? TopOrder::waiters : TopOrder(static_cast<int>(order) + 1);
}

void TopView::sort(TopOrder by) {
  order = by;
  std::ranges::sort(rows, [by](const TopRow& a, const TopRow& b) { return comes_before(a, b, by); });
}

std::string TopView::in_lines() const {
  std::string text;
  for (const SeenServer& server : servers) {
    if (!server.up)
      text +=
          for_log(base::without_logins(server.trouble.empty() ? server.server + ": no answer yet" : server.trouble)) +
          "\n";
  }
  const bool several = servers.size() > 1;
  std::vector<std::vector<std::string>> lines{titles(order)};
  if (several) lines.front().emplace_back("NODE");
  for (const TopRow& row : rows) {
    const LockInfo& lock = row.lock;
    lines.push_back({printable(lock.name), kind(row), held(row), lock.remaining ? in_words(*lock.remaining) : "none",
                     number(lock.listeners), number(lock.queued), holder(row)});
    if (several) lines.back().push_back(row.node);
  }
  return text + table(std::move(lines));
}

boost::json::object TopView::in_json(std::chrono::system_clock::time_point at) const {
  boost::json::object out;
  out["at_ms"] = duration_cast<milliseconds>(at.time_since_epoch()).count();
  boost::json::array& nodes = out["servers"].emplace_array();
  for (const SeenServer& server : servers) {
    boost::json::object each{{"node", server.server}, {"up", server.up}, {"error", nullptr}};
    if (!server.trouble.empty()) put_text(each, "error", base::without_logins(server.trouble));
    nodes.push_back(std::move(each));
  }
  boost::json::array& locks = out["locks"].emplace_array();
  for (const TopRow& row : rows) {
    boost::json::object each = cli::to_json(row.lock);
    each["node"] = row.node;
    each["kind"] = kind(row);
    put_ms(each, "held_ms", row.held);
    each["held_longer"] = row.held_longer;
    locks.push_back(std::move(each));
  }
  return out;
}

TopView TopMemory::take(std::vector<SeenServer> servers, base::TimePoint now) {
  TopView view;
  for (SeenServer& server : servers) {
    if (!server.up) continue;
    const bool first = !since_.contains(server.server);
    std::map<std::string, Since> before = std::exchange(since_[server.server], {});
    for (auto& [kind, lock] : server.listed) {
      const auto known = before.find(lock.name);
      const bool same = known != before.end() && known->second.owner == lock.owner;
      const Since since = same ? known->second : Since{lock.owner, now, first};
      since_[server.server][lock.name] = since;
      view.rows.push_back(
          {server.server, kind, std::move(lock), duration_cast<milliseconds>(now - since.time), since.longer});
    }
    server.listed.clear();
  }
  view.servers = std::move(servers);
  view.sort(TopOrder::waiters);
  return view;
}

/// The terminal on standard output, and its keys if standard input is a terminal too. Takes it over at construction,
/// and finally restores it with its previous contents.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// True if standard output is a terminal.
  static bool exists();

  /// The keys' descriptor, or -1.
  int keys() const { return keys_; }
  enum class Key { none, quit, suspend, sort, help, other };
  /// The next pressed key; none: no more keys. A closed terminal counts as quit.
  Key next_key() const;

  /// Draws as many of these lines as fit, each cut at the edge. Throws std::system_error.
  void draw(const Shown& lines) const;
  /// Gives the terminal back and stops this process, as the suspend key does; when continued, takes it over again.
  void suspend();
  /// To be called after another process had the terminal.
  void take_over();

 private:
  void give_back() noexcept;

  int keys_ = -1;
  std::optional<termios> found_;  // its previous modes; empty: not changed
};

// The alternate screen, without a cursor, with long lines cut.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kRestOfLine = "\x1b[K";
constexpr std::string_view kRestOfPage = "\x1b[J";

std::size_t height() {
  winsize size{};
  const bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return told ? size.ws_row : 24;
}

Screen::Screen() {
  if (isatty(STDIN_FILENO) != 0) keys_ = STDIN_FILENO;
  take_over();
}

Screen::~Screen() { give_back(); }

bool Screen::exists() { return isatty(STDOUT_FILENO) != 0; }

void Screen::take_over() {
  // In the background the terminal belongs to another job.
  if (keys_ >= 0 && tcgetpgrp(keys_) == getpgrp()) {
    termios modes{};
    if (tcgetattr(keys_, &modes) == 0) {
      if (!found_) found_ = modes;
      modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      modes.c_cc[VSUSP] = _POSIX_VDISABLE;  // a key like others: see suspend()
      modes.c_cc[VMIN] = 0;
      modes.c_cc[VTIME] = 0;
      tcsetattr(keys_, TCSADRAIN, &modes);
    }
  }
  write_all(STDOUT_FILENO, kEnter);
}

void Screen::give_back() noexcept {
  try {
    write_all(STDOUT_FILENO, kLeave);
  } catch (const std::system_error&) {
    // It is gone.
  }
  if (found_) tcsetattr(keys_, TCSADRAIN, &*found_);
  found_.reset();
}

Screen::Key Screen::next_key() const {
  pollfd pressed{keys_, POLLIN, 0};
  if (poll(&pressed, 1, 0) <= 0) return Key::none;
  char key = 0;
  const ssize_t count = read(keys_, &key, 1);
  if (count < 0 && errno == EINTR) return Key::other;
  if (count <= 0) return Key::quit;
  constexpr char kSuspend = '\x1a';
  if (key == 'q' || key == 'Q') return Key::quit;
  if (key == 's' || key == 'S') return Key::sort;
  if (key == '?' || key == 'h') return Key::help;
  return key == kSuspend ? Key::suspend : Key::other;
}

void Screen::draw(const Shown& lines) const {
  std::string out(kHome);
  std::size_t room = height();
  for (std::string_view rest = lines.text(); !rest.empty() && room > 0; --room) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    out.append(line).append(kRestOfLine);
    if (!rest.empty() && room > 1) out += "\r\n";
  }
  write_all(STDOUT_FILENO, out.append(kRestOfPage));
}

void Screen::suspend() {
  give_back();
  kill(0, SIGSTOP);  // the whole job, as the key does
  take_over();
}

using base::Clock;
using base::TimePoint;

/// Queries the servers in the background; the display is at most one look old, unless a server hangs.
class Top {
 public:
  Top(std::vector<Config> configs, const std::string& pattern, const std::vector<LockKind>& kinds,
      std::chrono::milliseconds interval, const Console& console)
      : interval_(interval), console_(console) {
    watches_ = watch_all(std::move(configs), "top",
                         {.pattern = pattern,
                          .kinds = kinds,
                          .interval = interval_,
                          .doctor = {},
                          .most_kept = kAll,
                          .queues = true,
                          .looked = [this] { looked_.set(); }});
    shown_.resize(watches_.size());
  }

  int looked() const { return looked_.get(); }
  int overdue() const { return overdue_.get(); }

  /// Shows new results once there is a new look at each server, or one of them hangs.
  void refresh(const Screen* screen) {
    looked_.take();
    std::vector<SeenServer> seen = seen_by(watches_);
    bool all = true;
    for (std::size_t i = 0; i < seen.size(); ++i) all = all && seen[i].looks > shown_[i];
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
  ServerWatches watches_;
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

class TopVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kinds(kinds_);
    line.duration("-n, --interval TIME", interval_, R"(how often to look, going through all keys; default 2s)",
                  std::chrono::milliseconds(100));
  }
  void accept(const CommandLine& line) override { pattern_ = line.at_most_one("the pattern").value_or(pattern_); }
  int run(const Console& console) override;

 private:
  std::string pattern_ = "*";
  std::vector<LockKind> kinds_;
  std::chrono::milliseconds interval_{2000};
};

/// Does not return.
int TopVerb::run(const Console& console) {
  const SignalGate signals;  // before any thread
  Top top(make_configs(console), pattern_, kinds_, interval_, console);
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

}  // namespace

extern const VerbEntry top_verb{.name = "top",
                                .summary = R"(the locks on a screen that refreshes)",
                                .head = R"(holdfast top [OPTIONS] [PATTERN]

Shows on a screen that refreshes which locks are held: by whom, for how long, and who waits. Those that most wait for
come first; the key s sorts by the next column, ? shows the keys, q ends it. PATTERN: only these locks, as in ls. Where
standard output is no terminal, the table is printed anew each time; with --json one object a line. Nothing is asked of
those who hold or wait.
)",
                                .end = R"(
Exit codes
  0   ended by q or a signal               64  wrong usage
  70  internal error

Examples
  holdfast top
  holdfast top --kind all
  holdfast top -n 500ms --url redis://a --url redis://b 'billing:*'
  holdfast top --json | jq -c '.locks[] | select(.held_ms > 60000)'
)",
                                .make = make_verb<TopVerb>};

}  // namespace holdfast::cli
