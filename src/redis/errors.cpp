#include "redis/errors.hpp"

#include <array>

namespace holdfast::redis {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// True if the reply's code is `word`: as the first word, or after a script's position mark (`@user_script:3: WORD
/// ...`).
bool has_code(std::string_view text, std::string_view word) {
  if (text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ')) return true;
  const std::size_t mark = text.find("@user_script");
  if (mark == std::string_view::npos) return false;
  std::string_view rest = text.substr(mark);
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return false;
  rest.remove_prefix(colon + 2);
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return rest.starts_with(word);
}

}  // namespace

Errc classify(std::string_view text) {
  if (has_code(text, "WRONGTYPE")) return Errc::wrong_type;
  if (has_code(text, "READONLY")) return Errc::read_only;
  if (has_code(text, "OOM")) return Errc::out_of_memory;
  for (const char* word : {"NOPERM", "NOAUTH", "WRONGPASS", "DENIED"}) {
    if (has_code(text, word)) return Errc::denied;
  }
  // Redis 7.0 words a permission that a script lacks without a code of its own.
  if (has(text, "can't run this command") || has(text, "can't access at least one of the keys") ||
      has(text, "can't access the channel") || has(text, "No permissions to access")) {
    return Errc::denied;
  }
  if (has(text, "unknown command") || has(text, "Unknown Redis command") || has_code(text, "NOPROTO")) {
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
