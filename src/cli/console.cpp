// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/fd.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kMark = "://";
constexpr std::array<std::string_view, 7> kServerSchemes{
    "redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"};
constexpr std::size_t kNowhere = std::string_view::npos;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a server's URL has its `://`, or npos.
std::size_t server_mark(std::string_view text) {
  for (std::size_t mark = text.find(kMark); mark != kNowhere; mark = text.find(kMark, mark + 1)) {
    std::size_t begin = mark;
    while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '+')) --begin;
    std::string scheme(text.substr(begin, mark - begin));
    std::ranges::transform(scheme, scheme.begin(), [](char c) { return c == '+' ? c : static_cast<char>(c | 0x20); });
    if (std::ranges::find(kServerSchemes, scheme) != kServerSchemes.end()) return mark;
  }
  return kNowhere;
}

constexpr int kUserMessages = 1 << 3;  // the facility

/// Where the daemon listens; HOLDFAST_SYSLOG names another place, for tests.
std::string_view place() {
  const char* other = std::getenv("HOLDFAST_SYSLOG");
  return other == nullptr ? "/dev/log" : other;
}

/// In the form of RFC 3164, which every daemon reads.
std::string packet(LogLevel level, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> time{};
  // The names of months are English whatever the locale: the tool sets none.
  std::strftime(time.data(), time.size(), "%b %e %H:%M:%S", &local);
  return fmt::format("<{}>{} holdfast[{}]: {}", kUserMessages | static_cast<int>(level), time.data(), getpid(), text);
}

/// The name of an Errc as `--json` shows it.
const char* code_name(const std::error_code& code) {
  if (code.category() != error_category()) return "internal";
  return to_string(static_cast<Errc>(code.value()));
}

/// Whether a byte takes a column on the screen: UTF-8 continuation bytes do not.
bool takes_a_column(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, takes_a_column));
}

/// The first characters and an ellipsis, this wide in total.
std::string cut(const std::string& text, std::size_t columns) {
  constexpr std::string_view kEllipsis = "...";
  std::size_t end = 0;
  for (std::size_t seen = kEllipsis.size(); end < text.size(); ++end) {
    if (takes_a_column(text[end]) && ++seen > columns) break;
  }
  return text.substr(0, end).append(kEllipsis);
}

/// What this tool can do about it, if the server's words say so.
const char* advice(const Error& error) {
  const std::string_view cause = error.cause();
  if (error.code() == Errc::denied && cause.starts_with("NOAUTH")) {
    return " (no password was given: put it into HOLDFAST_PASSWORD, or a file for --password-file)";
  }
  if (error.code() != Errc::wrong_type) return "";
  if (cause.ends_with("is a read-write lock")) return " (--kind read-write, or run --shared)";
  if (cause.ends_with("with one owner at a time")) return " (--kind lock, or fenced)";
  if (cause.ends_with("a count-down latch is")) {
    return " (--kind simple, permit, semaphore or latch; run takes a permit with --max)";
  }
  return "";
}

}  // namespace

bool has_login(std::string_view text) {
  const std::size_t mark = server_mark(text);
  if (mark == kNowhere) return false;
  const std::string_view rest = text.substr(mark + kMark.size());
  if (rest.find('@') != kNowhere) return true;
  // Without a host after it, the text after a colon is not a port.
  std::string_view places = rest.substr(0, rest.find_first_of("/?#"));
  while (true) {
    const std::string_view place = places.substr(0, places.find(','));
    const std::size_t colon = place.starts_with('[') ? kNowhere : place.find(':');
    if (colon != kNowhere && place.find_first_not_of("0123456789", colon + 1) != kNowhere) return true;
    if (place.size() == places.size()) return false;
    places.remove_prefix(place.size() + 1);
  }
}

std::string shown(std::string_view arg) {
  // Removes all of it, since a login before a later '@' may begin earlier.
  const std::size_t mark = server_mark(arg) == kNowhere ? kNowhere : arg.find(kMark);
  return base::printable(mark == kNowhere ? std::string(arg)
                                          : std::string(arg.substr(0, mark)).append(kMark).append("***"));
}

// Does not use syslog(3), which does not report lost messages, and may block on a daemon that does not read.
bool write_to_syslog(LogLevel level, std::string_view text) noexcept try {
  const std::string_view path = place();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::ranges::copy(path, address.sun_path);
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string message = packet(level, text);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  return sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL, to, sizeof(address)) >= 0;
} catch (const std::exception&) {
  return false;
}

Problem Problem::from(const Error& error) {
  const std::error_code code = error.code();
  int exit_code = kExitUnavailable;
  if (code == Errc::invalid_argument) exit_code = kExitUsage;
  if (code == Errc::lost) exit_code = kExitLost;
  if (code == Errc::forked || code == Errc::not_owner) exit_code = kExitInternal;
  return {code_name(code), error.what() + std::string(advice(error)), error.key(), error.node(), exit_code};
}

Problem Problem::usage(std::string message) { return {"usage", std::move(message), "", "", kExitUsage}; }

Problem Problem::internal(std::string message) { return {"internal", std::move(message), "", "", kExitInternal}; }

Problem Problem::from_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return from(error);
  } catch (const UsageError& error) {
    return usage(error.what());
  } catch (const std::exception& error) {
    return internal(error.what());
  } catch (...) {
    return internal("unknown exception");
  }
}

Shown Shown::styled(const char* style, std::string_view text) {
  Shown shown(text);
  shown.text_ = fmt::format("\x1b[{}m{}\x1b[0m", style, shown.text_);
  return shown;
}

void show(int fd, const Shown& text) { write_all(fd, text.text()); }

void Console::result(const Shown& text) const { show(STDOUT_FILENO, text); }

void Console::question(std::string_view text) const {
  show(STDERR_FILENO, Shown(for_log(base::without_logins(text)) + " [y/N] "));
}

void Console::problem(const Problem& problem) const { say(LogLevel::error, problem.message); }

void Console::note(std::string_view text) const {
  if (!quiet()) say(LogLevel::notice, text);
}

void Console::detail(std::string_view text) const {
  if (verbose()) say(LogLevel::info, text);
}

void Console::say(LogLevel level, std::string_view text) const {
  const std::string words = for_log(base::without_logins(text));
  if (options_.syslog && write_to_syslog(level, words)) return;
  const std::string time = options_.timestamps ? time_in_words(std::chrono::system_clock::now()) + " " : "";
  try {
    show(STDERR_FILENO, Shown(fmt::format("{}holdfast: {}\n", time, words)));
  } catch (const std::system_error&) {
    // Standard error may be closed or full; there is nowhere else to report that.
  }
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string time_in_words(std::chrono::system_clock::time_point time) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", text.data(), now.time_since_epoch().count() % 1000);
}

std::string table(std::vector<std::vector<std::string>> rows) {
  constexpr std::size_t kWidest = 64;
  std::vector<std::size_t> widths;
  for (std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      if (width(row[i]) > kWidest) row[i] = cut(row[i], kWidest);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) out += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    out += row.back() + "\n";
  }
  return out;
}

std::string in_words(std::chrono::milliseconds duration) {
  using namespace std::chrono;
  const auto count = [](auto d) { return static_cast<long long>(d.count()); };
  if (duration < 1s) return fmt::format("{} ms", count(duration));
  if (duration < 100s) return fmt::format("{:.1f} s", duration_cast<std::chrono::duration<double>>(duration).count());
  if (duration < 2h) {
    return fmt::format("{} min {} s", count(duration_cast<minutes>(duration)),
                       count(duration_cast<seconds>(duration) % 60));
  }
  if (duration < 48h) {
    return fmt::format("{} h {} min", count(duration_cast<hours>(duration)),
                       count(duration_cast<minutes>(duration) % 60));
  }
  return fmt::format("{} d {} h", count(duration_cast<days>(duration)), count(duration_cast<hours>(duration) % 24));
}

std::string holder_in_words(const LockHolder& each) {
  const bool named = each.holder && each.holder->connection == Holder::Connection::open;
  return named ? to_string(*each.holder) : printable(each.owner);
}

std::string holder_in_words(const LockInfo& info) {
  const std::size_t others = info.holders.size() - 1;
  const std::string first = holder_in_words(info.holders.front());
  if (others == 0) return first;
  return fmt::format("{} and {} other reader{}", first, others, others == 1 ? "" : "s");
}

}  // namespace holdfast::cli
