// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/errors.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

struct Row {
  std::string_view text;
  Errc code;
  Fate fate;
  const char* hint = "";
};

constexpr const char* kElsewhere =
    "another node of the cluster serves it; the URL of a cluster begins with redis+cluster://";
constexpr const char* kSeveralSlots =
    "in a cluster, names for one command share a hash tag, as {orders}.1 and {orders}.2 do";
constexpr const char* kNotLocal = "in a cluster, a script may use only what lies in the slot of its keys";
constexpr const char* kNoScripts =
    "a Sentinel has no scripts: if this is one, its URL begins with redis+sentinel:// and ends with the primary's name";
constexpr const char* kDatabases = "a cluster has database 0 only, unless its cluster-databases (Valkey 9) says more";

/// By the reply's code. Where the fate is not `ran`, a script gets this error only before its first write: once it has
/// written, it is not stopped for any of these.
constexpr Row kCodes[] = {
    // The server will recover.
    {"LOADING", Errc::server_error, Fate::transient},
    {"BUSY", Errc::server_error, Fate::transient},
    {"MASTERDOWN", Errc::server_error, Fate::transient},
    {"CLUSTERDOWN", Errc::server_error, Fate::transient},
    {"TRYAGAIN", Errc::server_error, Fate::transient},
    {"NOREPLICAS", Errc::server_error, Fate::transient},
    {"MISCONF", Errc::server_error, Fate::transient},
    {"UNBLOCKED", Errc::server_error, Fate::transient},
    {"NOSCRIPT", Errc::server_error, Fate::transient},
    // Another cluster node must be asked. Only redirects that could not be followed are reported.
    {"MOVED", Errc::server_error, Fate::transient, kElsewhere},
    {"ASK", Errc::server_error, Fate::transient, kElsewhere},
    {"READONLY", Errc::read_only, Fate::transient},
    {"REDIRECT", Errc::read_only, Fate::transient},
    // The server refuses.
    {"NOPERM", Errc::denied, Fate::denied},
    {"NOAUTH", Errc::denied, Fate::denied},
    {"WRONGPASS", Errc::denied, Fate::denied},
    {"DENIED", Errc::denied, Fate::denied},
    // The server is not able to.
    {"OOM", Errc::out_of_memory, Fate::lasting},
    {"NOPROTO", Errc::unsupported_by_server, Fate::lasting},
    {"CROSSSLOT", Errc::unsupported_by_server, Fate::lasting, kSeveralSlots},
    {"EXECABORT", Errc::server_error, Fate::lasting},
    {"UNKILLABLE", Errc::server_error, Fate::lasting},
};
constexpr Row kWrongType{"WRONGTYPE", Errc::wrong_type, Fate::lasting};  // a script may have written before

/// By wording, where servers give no code but ERR.
constexpr Row kPhrases[] = {
    {"max number of clients", Errc::server_error, Fate::transient},
    {"on a stale replica", Errc::server_error, Fate::transient},
    {"while the cluster is down", Errc::server_error, Fate::transient},
    {"cannot be used with replica instances", Errc::read_only, Fate::transient},
    {"numlocal is set but appendonly is disabled", Errc::unsupported_by_server, Fate::lasting,
     "acks=aof needs appendonly yes"},
    {"Error compiling script", Errc::server_error, Fate::lasting},
    // A missing permission in a script, in the wording of 6.2 and 7.0, and of 7.2, later versions and Valkey.
    {"The user executing the script", Errc::denied, Fate::ran},
    {"ACL failure in script", Errc::denied, Fate::ran},
    {"has no permissions to", Errc::denied, Fate::denied},
    // A missing command in a script, or a key of another cluster node.
    {" command called from", Errc::unsupported_by_server, Fate::ran},
    {"ttempted to access", Errc::unsupported_by_server, Fate::ran, kNotLocal},
    // The same of several keys while their slot moves, in the wording of Redis 8 and Valkey 8.
    {"undeclared keys were accessed", Errc::unsupported_by_server, Fate::ran, kNotLocal},
    {"cluster support disabled", Errc::unsupported_by_server, Fate::lasting,
     "not a cluster: its URL begins with redis:// or rediss://"},
    {"nknown command 'HELLO'", Errc::unsupported_by_server, Fate::lasting, "Redis 6 or later is needed"},
    {"nknown command `HELLO`", Errc::unsupported_by_server, Fate::lasting, "Redis 6 or later is needed"},
    {"nknown command 'EVALSHA'", Errc::unsupported_by_server, Fate::lasting, kNoScripts},
    {"nknown command `EVALSHA`", Errc::unsupported_by_server, Fate::lasting, kNoScripts},
    {"nknown command", Errc::unsupported_by_server, Fate::lasting},
    {"Could not find scripting engine", Errc::unsupported_by_server, Fate::lasting, kNoLua},
    {"DB index is out of range", Errc::invalid_argument, Fate::lasting,
     "its setting databases says how many there are; in a cluster cluster-databases (Valkey 9)"},
    {"SELECT is not allowed in cluster mode", Errc::invalid_argument, Fate::lasting, kDatabases},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
}

/// The text after the position marks that Redis 6 puts before errors in scripts
/// (`... @user_script:3: WRONGTYPE ...`, `... @user_script:6: @user_script: 6: -OOM ...`); empty if there are none.
std::string_view behind_marks(std::string_view text) {
  constexpr std::string_view kMark = "@user_script";
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return {};
  std::string_view rest = text.substr(mark);
  while (rest.starts_with(kMark)) {
    rest.remove_prefix(kMark.size());
    const std::size_t end = rest.find_first_not_of(": 0123456789");
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end);
  }
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return rest;
}

/// For an unknown command, servers repeat its arguments, which may include a password or a word of this table.
std::string_view without_arguments(std::string_view text) { return text.substr(0, text.find(", with args")); }

/// True if the error came from a running script.
bool of_script(std::string_view text) {
  return has(text, "@user_script") || has(text, "Error running script") || has(text, "ACL failure in script") ||
         has(text, "The user executing the script");
}

Row find(std::string_view text) {
  const std::string_view inner = behind_marks(text);
  const auto has_code = [&](const Row& row) {
    return starts_with_word(text, row.text) || starts_with_word(inner, row.text);
  };
  if (const auto* row = std::ranges::find_if(kCodes, has_code); row != std::end(kCodes)) return *row;
  if (has_code(kWrongType)) {
    Row row = kWrongType;
    if (of_script(text)) row.fate = Fate::ran;
    return row;
  }
  const auto has_phrase = [&](const Row& row) { return has(text, row.text); };
  if (const auto* row = std::ranges::find_if(kPhrases, has_phrase); row != std::end(kPhrases)) return *row;
  return {{}, Errc::server_error, of_script(text) ? Fate::ran : Fate::lasting};
}

}  // namespace

Meaning classify(std::string_view error_text) {
  const Row row = find(without_arguments(error_text));
  return {row.code, row.fate};
}

Meaning classify_script(std::string_view error_text) {
  const Row row = find(without_arguments(error_text));
  return {row.code, row.text.empty() ? Fate::ran : row.fate};
}

bool refuses_command(std::string_view error_text) {
  const std::string_view text = without_arguments(error_text);
  return has(text, "nknown command") || (starts_with_word(text, "NOPERM") && has(text, "permissions to run"));
}

bool refuses_resp3(std::string_view error_text) {
  const std::string_view text = without_arguments(error_text);
  return starts_with_word(text, "NOPROTO") || has(text, "nknown command") || has(text, "nsupported command");
}

bool refuses_a_key(std::string_view error_text) {
  return is_apart(error_text) || starts_with_word(error_text, "CROSSSLOT") || classify(error_text).code == Errc::denied;
}

std::string explain(std::string_view error_text) {
  const std::string_view text = without_arguments(error_text);
  std::string out(text);
  if (const std::string_view hint = find(text).hint; !hint.empty()) out.append(" (").append(hint).append(")");
  return out;
}

bool is_redirect(std::string_view error_text) {
  return starts_with_word(error_text, "MOVED") || starts_with_word(error_text, "ASK");
}

bool is_apart(std::string_view error_text) { return starts_with_word(error_text, "TRYAGAIN"); }

bool is_demoted(std::string_view error_text) {
  const std::string_view code = find(without_arguments(error_text)).text;
  return code == "READONLY" || code == "REDIRECT" || code == "MASTERDOWN" || code == "UNBLOCKED";
}

}  // namespace holdfast::redis
