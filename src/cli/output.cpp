#include "cli/output.hpp"

#include <cerrno>
#include <exception>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace holdfast::cli {
namespace {

/// The name of an Errc as `--json` shows it.
const char* code_name(const std::error_code& code) {
  if (code.category() != error_category()) return "internal";
  switch (static_cast<Errc>(code.value())) {
    case Errc::busy:
      return "busy";
    case Errc::timed_out:
      return "timed_out";
    case Errc::cancelled:
      return "cancelled";
    case Errc::lost:
      return "lost";
    case Errc::not_owner:
      return "not_owner";
    case Errc::unreachable:
      return "unreachable";
    case Errc::unknown_outcome:
      return "unknown_outcome";
    case Errc::denied:
      return "denied";
    case Errc::tls:
      return "tls";
    case Errc::wrong_type:
      return "wrong_type";
    case Errc::read_only:
      return "read_only";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::unsupported_by_server:
      return "unsupported_by_server";
    case Errc::server_error:
      return "server_error";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::forked:
      return "forked";
    case Errc::closed:
      return "closed";
    case Errc::would_deadlock:
      return "would_deadlock";
    case Errc::no_quorum:
      return "no_quorum";
  }
  return "internal";
}

/// One line whatever the text holds: a server's words are not ours to trust.
std::string line(std::string_view text) {
  std::string out = "holdfast: ";
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out + "\n";
}

/// Standard error may be closed or full; there is nobody left to tell.
void write_error_line(std::string_view text) {
  try {
    write_all(STDERR_FILENO, line(text));
  } catch (const std::system_error&) {
  }
}

}  // namespace

Failure Failure::from(const Error& error) {
  const std::error_code code = error.code();
  int exit_code = kExitUnavailable;
  if (code == Errc::invalid_argument) exit_code = kExitUsage;
  if (code == Errc::lost) exit_code = kExitLost;
  if (code == Errc::forked || code == Errc::not_owner) exit_code = kExitInternal;
  return {code_name(code), error.what(), error.key(), error.node(), exit_code};
}

Failure Failure::usage(std::string message) { return {"usage", std::move(message), "", "", kExitUsage}; }

Failure Failure::internal(std::string message) { return {"internal", std::move(message), "", "", kExitInternal}; }

Failure Failure::from_current_exception() {
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

void Console::result(std::string_view text) const { write_all(STDOUT_FILENO, text); }

void Console::failure(const Failure& failure) const { write_error_line(failure.message); }

void Console::note(std::string_view text) const {
  if (!quiet()) write_error_line(text);
}

void Console::detail(std::string_view text) const {
  if (verbose()) write_error_line(text);
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string printable(std::string_view name) {
  const bool blank_edge = name.empty() || name.front() == ' ' || name.back() == ' ';
  std::string quoted = base::quote(name);
  const bool changed = quoted.size() != name.size() + 2;
  return blank_edge || changed ? quoted : std::string(name);
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

}  // namespace holdfast::cli
