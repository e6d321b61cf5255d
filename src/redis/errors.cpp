#include "redis/errors.hpp"

#include <array>

namespace holdfast::redis {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
}

/// True if the reply's code is `word`: its first word, or the first after the position marks that Redis 6 puts before
/// errors in scripts (`... @user_script:3: WRONGTYPE ...`, `... @user_script:6: @user_script: 6: -OOM ...`).
bool has_code(std::string_view text, std::string_view word) {
  if (starts_with_word(text, word)) return true;
  constexpr std::string_view kMark = "@user_script";
  std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return false;
  std::string_view rest = text.substr(mark);
  while (rest.starts_with(kMark)) {
    rest.remove_prefix(kMark.size());
    const std::size_t end = rest.find_first_not_of(": 0123456789");
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end);
  }
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return starts_with_word(rest, word);
}

}  // namespace

Errc classify(std::string_view text) {
  if (has_code(text, "WRONGTYPE")) return Errc::wrong_type;
  if (has_code(text, "READONLY")) return Errc::read_only;
  if (has_code(text, "OOM")) return Errc::out_of_memory;
  for (const char* word : {"NOPERM", "NOAUTH", "WRONGPASS", "DENIED"}) {
    if (has_code(text, word)) return Errc::denied;
  }
  // A permission that a script lacks is worded without a code: by 6.2 and 7.0, by 7.2 and later, and by Valkey.
  if (has(text, "The user executing the script") || has(text, "ACL failure in script") ||
      has(text, "has no permissions to")) {
    return Errc::denied;
  }
  if (has(text, "unknown command") || has(text, "Unknown Redis command") || has(text, "Unknown command called") ||
      has_code(text, "NOPROTO")) {
    return Errc::unsupported_by_server;
  }
  if (has(text, "DB index is out of range")) return Errc::invalid_argument;
  return Errc::server_error;
}

bool is_transient(std::string_view text) {
  constexpr std::array kPassing{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "UNBLOCKED"};
  for (const char* word : kPassing) {
    if (has_code(text, word)) return true;
  }
  return has(text, "max number of clients reached");
}

}  // namespace holdfast::redis
