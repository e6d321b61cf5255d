// SPDX-License-Identifier: Apache-2.0
// Each refusal that we know, provoked at the running server: what it means is what the table of failures says, whatever
// the wording, and the wording is the one in refusals.txt, so that a new one is seen.
#include "refusals.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/errors.hpp"
#include "support/paths.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::refusals_test {
namespace {

using redis::Fate;
using redis::Meaning;

constexpr Meaning kForNow{Errc::server_error, Fate::transient};
constexpr Meaning kReadOnly{Errc::read_only, Fate::transient};
constexpr Meaning kDenied{Errc::denied, Fate::denied};
constexpr Meaning kDeniedInScript{Errc::denied, Fate::ran};
constexpr Meaning kFull{Errc::out_of_memory, Fate::lasting};
constexpr Meaning kLacking{Errc::unsupported_by_server, Fate::lasting};
constexpr Meaning kLackingInScript{Errc::unsupported_by_server, Fate::ran};
constexpr Meaning kInvalid{Errc::invalid_argument, Fate::lasting};
constexpr Meaning kError{Errc::server_error, Fate::lasting};
constexpr Meaning kErrorInScript{Errc::server_error, Fate::ran};
constexpr Meaning kWrongType{Errc::wrong_type, Fate::lasting};
constexpr Meaning kWrongTypeInScript{Errc::wrong_type, Fate::ran};

struct Row {
  const char* name;
  Refusals::Provoke provoke;
  Meaning meaning;
  /// The first Redis whose server says something like it; Valkey says all that Redis 7.2 says.
  int major = 6, minor = 0;
  bool valkey_only = false;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

using R = Refusals;
const Row kRows[] = {
    {"loading", &R::loading, kForNow, 6, 2},
    {"busy", &R::busy, kForNow},
    {"unkillable", &R::unkillable, kError},
    {"killed script", &R::killed_script, kErrorInScript},
    {"masterdown", &R::masterdown, kForNow},
    {"stale replica, in a script", &R::stale_in_script, kForNow, 7},
    {"noreplicas", &R::noreplicas, kForNow},
    {"noreplicas, in a script", &R::noreplicas_in_script, kForNow, 7},
    {"misconf", &R::misconf, kForNow},
    {"misconf, in a script", &R::misconf_in_script, kForNow},
    {"unblocked", &R::unblocked, kForNow},
    {"noscript", &R::noscript, kForNow},
    {"maxclients", &R::maxclients, kForNow},
    {"readonly", &R::readonly, kReadOnly},
    {"readonly, in a script", &R::readonly_in_script, kReadOnly},
    {"redirect", &R::redirect, kReadOnly, 7, 2, true},
    {"wait at a replica", &R::wait_at_replica, kReadOnly},
    {"noperm, command", &R::noperm_command, kDenied},
    {"noperm, key", &R::noperm_key, kDenied},
    {"noperm, channel", &R::noperm_channel, kDenied, 6, 2},
    {"noperm, command in a script", &R::noperm_command_in_script, kDeniedInScript},
    {"noperm, key in a script", &R::noperm_key_in_script, kDeniedInScript},
    {"noperm, channel in a script", &R::noperm_channel_in_script, kDeniedInScript, 7},
    {"noauth", &R::noauth, kDenied},
    {"noauth, HELLO", &R::noauth_hello, kDenied},
    {"wrongpass", &R::wrongpass, kDenied},
    {"oom", &R::oom, kFull},
    {"oom, in a script", &R::oom_in_script, kFull},
    {"noproto", &R::noproto, kLacking},
    {"wrongtype", &R::wrongtype, kWrongType},
    {"wrongtype, in a script", &R::wrongtype_in_script, kWrongTypeInScript},
    {"execabort", &R::execabort, kError},
    {"unknown command", &R::unknown_command, kLacking},
    {"unknown command, HELLO", &R::unknown_hello, kLacking},
    {"unknown command, EVALSHA", &R::unknown_evalsha, kLacking},
    {"unknown command, in a script", &R::unknown_in_script, kLackingInScript},
    {"compiling", &R::compiling, kError},
    {"error of a script", &R::error_of_script, kErrorInScript},
    {"waitaof without a file", &R::waitaof, kLacking, 7, 2},
    {"no such database", &R::no_such_database, kInvalid},
    {"no integer", &R::no_integer, kError},
    {"no cluster", &R::no_cluster, kLacking},
    {"cluster: databases", &R::cluster_database, kInvalid},
    {"cluster: crossslot", &R::crossslot, kLacking},
    {"cluster: crossslot, in a script", &R::crossslot_in_script, kLackingInScript},
    {"cluster: moved", &R::moved, kForNow},
    {"cluster: slot not served", &R::not_served, kForNow},
    {"cluster: down", &R::down, kForNow},
    {"cluster: down, in a script", &R::down_in_script, kForNow, 7},
    {"cluster: down, a write in a script", &R::down_write_in_script, kForNow, 7},
    {"cluster: elsewhere, in a script", &R::elsewhere_in_script, kLackingInScript},
    {"slot leaves: ask", &R::ask, kForNow},
    {"slot leaves: some keys", &R::leaves_some, kForNow},
    {"slot leaves: a key, in a script", &R::leaves_key_in_script, kLackingInScript},
    {"slot leaves: some keys, in a script", &R::leaves_some_in_script, kLackingInScript},
    {"slot comes: without asking", &R::comes_unasked, kForNow},
    {"slot comes: some keys", &R::comes_some, kForNow},
    {"slot comes: some keys, in a script", &R::comes_some_in_script, kLackingInScript},
};

/// Without what differs from run to run.
std::string steady(std::string text) {
  text = std::regex_replace(text, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+:[0-9]+"), "ADDRESS");
  text = std::regex_replace(text, std::regex("^(MOVED|ASK) [0-9]+ "), "$1 SLOT ");
  return std::regex_replace(text, std::regex("[0-9a-f]{40}"), "SHA1");
}

/// `Redis 7.0`, of `Redis 7.0.15`.
std::string this_server() {
  const std::string& version = server_version();
  return version.substr(0, version.find('.', version.find('.') + 1));
}

/// Each line is `name | server, server | text`: by name, then by text, which servers say so.
using Known = std::map<std::string, std::map<std::string, std::set<std::string>>>;
Known known() {
  Known all;
  std::ifstream file(source_path("tests/scripts/refusals.txt"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    if (line.starts_with('#') || second == line.npos) continue;
    std::istringstream servers(line.substr(first + 3, second - first - 3));
    auto& who = all[line.substr(0, first)][line.substr(second + 3)];
    for (std::string each; std::getline(servers >> std::ws, each, ',');) who.insert(each);
  }
  return all;
}

class RefusalTest : public testing::TestWithParam<Row> {};

TEST_P(RefusalTest, MeansWhatTheTableSaysAndIsWordedAsBefore) {
  const Row& row = GetParam();
  if (!server_like_redis(row.major, row.minor)) GTEST_SKIP() << server_version() << " does not say so";
  if (row.valkey_only && !server_is_valkey(8, 0)) GTEST_SKIP() << "only Valkey says so";
  Refusals refusals;
  const Reply reply = (refusals.*row.provoke)();
  ASSERT_TRUE(reply.is_error()) << reply.text << reply.integer;
  const Meaning meaning = redis::classify(reply.text);
  EXPECT_EQ(meaning.code, row.meaning.code) << reply.text;
  EXPECT_EQ(meaning.fate, row.meaning.fate) << reply.text;

  const std::string said = steady(reply.text);
  const Known all = known();
  const auto texts = all.find(row.name);
  const auto says = [](const auto& text) { return text.second.contains(this_server()); };
  const bool listed = texts != all.end() && std::ranges::any_of(texts->second, says);
  const bool same =
      texts != all.end() && texts->second.contains(said) && (!listed || texts->second.at(said).contains(this_server()));
  EXPECT_TRUE(same) << "a new wording; the line of tests/scripts/refusals.txt:\n"
                    << row.name << " | " << this_server() << " | " << said;
}

INSTANTIATE_TEST_SUITE_P(Provoked, RefusalTest, testing::ValuesIn(kRows), [](const auto& each) {
  std::string name = each.param.name;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace holdfast::test::refusals_test
