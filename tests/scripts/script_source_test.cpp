// SPDX-License-Identifier: Apache-2.0
// The scripts as sources: all of them embedded, known to the server by the same hash, and as cheap as promised.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scripts/script_call.hpp"
#include "support/listen.hpp"
#include "support/paths.hpp"

namespace holdfast::test::script_source_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAreArray;

const std::filesystem::path kFolder = source_path("src/kinds/lua");

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path file_of(const std::string& name) { return kFolder / (name + ".lua"); }

/// Every .lua file by its path without ending; those in shared/, of which scripts are put together, or all others.
std::vector<std::string> lua_files(bool shared) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".lua") continue;
    std::string name = std::filesystem::relative(entry.path(), kFolder).replace_extension().string();
    if (name.starts_with("shared/") == shared) names.push_back(std::move(name));
  }
  return names;
}

/// A file's code without its comments, and with what it includes in the place of the line that says so.
std::string code_of(const std::string& name, const std::string& indent = {}) {
  constexpr std::string_view kInclude = "--@include ";
  std::ifstream file(file_of(name));
  std::string code;
  for (std::string line; std::getline(file, line);) {
    const std::size_t code_begins = line.find_first_not_of(' ');
    if (code_begins != line.npos && std::string_view(line).substr(code_begins).starts_with(kInclude)) {
      code += code_of(line.substr(code_begins + kInclude.size()), indent + line.substr(0, code_begins));
    } else if (!line.starts_with("--")) {
      code += (line.empty() ? "" : indent) + line + "\n";
    }
  }
  return code;
}

TEST(ScriptSource, every_lua_file_is_embedded_under_its_path_and_tested_here) {
  std::vector<std::string> embedded;
  for (const base::Script* script : all_scripts()) embedded.emplace_back(script->name);
  EXPECT_THAT(embedded, UnorderedElementsAreArray(lua_files(false)));
}

TEST(ScriptSource, every_lua_file_says_what_goes_in_what_comes_out_and_whether_it_may_be_resent) {
  for (const base::Script* script : all_scripts()) {
    const std::string text = read_file(file_of(std::string(script->name)));
    SCOPED_TRACE(script->name);
    for (const char* heading :
         {"-- KEYS[", "ARGV[", "\n-- returns ", "\n-- publishes ", "\n-- retry ", "\n-- pairs with "}) {
      EXPECT_THAT(text, HasSubstr(heading));
    }
  }
}

TEST(ScriptSource, the_embedded_text_is_the_files_code_without_its_comments) {
  for (const base::Script* script : all_scripts()) {
    SCOPED_TRACE(script->name);
    EXPECT_EQ(script->text, code_of(std::string(script->name)));
  }
}

TEST(ScriptSource, a_script_that_may_have_several_keys_has_a_form_that_names_the_first) {
  const RedisServer server;
  Raw raw(server);
  for (const base::Script* script : all_scripts()) {
    SCOPED_TRACE(script->name);
    const std::string others = std::regex_replace(std::string(script->text), std::regex("KEYS\\[1\\]"), "");
    ASSERT_EQ(script->of_first_key != nullptr, others.find("KEYS") != others.npos);
    if (script->of_first_key == nullptr) continue;
    EXPECT_EQ(script->of_first_key->text, code_of("shared/first_key") + std::string(script->text));
    EXPECT_EQ(raw.command("SCRIPT", "LOAD", script->of_first_key->text).text, script->of_first_key->sha1);
  }
}

TEST(ScriptSource, what_is_shared_says_what_it_is_for_and_is_shared) {
  for (const std::string& part : lua_files(true)) {
    SCOPED_TRACE(part);
    EXPECT_THAT(read_file(file_of(part)),
                testing::StartsWith("-- SPDX-License-Identifier: Apache-2.0\n-- " + part + ": "));
    if (part == "shared/first_key") continue;  // goes before all scripts with several keys
    int included = 0;
    for (const bool shared : {false, true}) {
      for (const std::string& script : lua_files(shared)) {
        if (read_file(file_of(script)).find("--@include " + part + "\n") != std::string::npos) ++included;
      }
    }
    EXPECT_GT(included, 1);
  }
}

TEST(ScriptSource, the_server_computes_the_same_hash) {
  const RedisServer server;
  Raw raw(server);
  for (const base::Script* script : all_scripts()) {
    EXPECT_EQ(raw.command("SCRIPT", "LOAD", script->text).text, script->sha1) << script->name;
  }
}

TEST(ScriptSource, sending_the_text_once_makes_the_hash_known) {
  const RedisServer server;
  Raw raw(server);
  const base::Command call = lock::release(wire::lock::names("L"), kA);
  EXPECT_THAT(run(raw, call, SendBy::hash).text, HasSubstr("NOSCRIPT"));
  EXPECT_TRUE(run(raw, call, SendBy::text).is_null());
  EXPECT_TRUE(run(raw, call, SendBy::hash).is_null());
}

/// The names of the commands that a script executes, in order.
class ScriptCost : public testing::Test {
 protected:
  std::vector<std::string> commands_of(const base::Command& call) {
    monitor.clear();
    EXPECT_FALSE(run(raw, call).is_error());
    std::vector<std::string> names;
    for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) names.push_back(line.args.at(0));
    return names;
  }

  RedisServer server;
  Raw raw{server};
  Monitor monitor{server};
  const wire::LockNames L = wire::lock::names("L");
  const milliseconds lease{30'000};
};

TEST_F(ScriptCost, acquire_executes_three_commands_on_a_free_lock_and_four_on_a_busy_one) {
  EXPECT_THAT(commands_of(lock::acquire(L, kA, lease)), ElementsAre("PTTL", "HSET", "PEXPIRE"));
  EXPECT_THAT(commands_of(lock::acquire(L, kA, lease)), ElementsAre("PTTL", "HEXISTS", "HSET", "PEXPIRE"));
  EXPECT_THAT(commands_of(lock::acquire(L, kB, lease)), ElementsAre("PTTL", "HEXISTS", "HLEN", "HGETALL"));
}

TEST_F(ScriptCost, release_executes_two_commands_or_one_when_there_is_nothing_to_release) {
  run(raw, lock::acquire(L, kA, lease));
  EXPECT_THAT(commands_of(lock::release(L, kA)), ElementsAre("HDEL", "PUBLISH"));
  EXPECT_THAT(commands_of(lock::release(L, kA)), ElementsAre("HDEL"));
}

TEST_F(ScriptCost, force_release_executes_five_commands_or_one_on_a_free_lock) {
  run(raw, lock::acquire(L, kA, lease));
  EXPECT_THAT(commands_of(wire::lock::force_release(L)), ElementsAre("PTTL", "HLEN", "HGETALL", "HDEL", "PUBLISH"));
  EXPECT_THAT(commands_of(wire::lock::force_release(L)), ElementsAre("PTTL"));
}

TEST_F(ScriptCost, looking_executes_three_commands_or_one_on_a_free_lock) {
  EXPECT_THAT(commands_of(wire::lock::holder("L")), ElementsAre("PTTL"));
  run(raw, lock::acquire(L, kA, lease));
  EXPECT_THAT(commands_of(wire::lock::holder("L")), ElementsAre("PTTL", "HLEN", "HGETALL"));
}

TEST_F(ScriptCost, renewal_executes_two_commands_for_each_lock_held_and_one_for_each_lost) {
  run(raw, lock::acquire(L, kA, lease));
  EXPECT_THAT(commands_of(wire::lock::renew({{"L", kA.text}, {"x", kA.text}}, lease)),
              ElementsAre("HEXISTS", "PEXPIRE", "HEXISTS"));
}

TEST_F(ScriptCost, a_full_batch_of_a_thousand_renewals_is_one_script) {
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back("lock:" + std::to_string(i));
  std::vector<wire::Renewal> renewals;
  for (const std::string& key : keys) {
    run(raw, lock::acquire(wire::lock::names(key), kA, lease));
    renewals.push_back({key, kA.text});
  }
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew(renewals, lease)), renewals.size()),
              testing::AllOf(testing::SizeIs(1000), testing::Each(true)));
}

}  // namespace
}  // namespace holdfast::test::script_source_test
