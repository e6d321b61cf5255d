// SPDX-License-Identifier: Apache-2.0
// docs/least-acl.acl beside the scripts: what it grants for a kind is what the scripts of that kind call.
#include "support/least_acl.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "support/paths.hpp"

namespace holdfast::test::least_acl_of_scripts_test {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;

using Words = std::set<std::string>;

/// The folders of src/kinds/lua, and the paragraphs about those who use their scripts.
const std::map<std::string, std::vector<std::string>> kFolders{{"lock", {"FencedLock"}},
                                                               {"spin", {}},
                                                               {"fair", {"FairLock"}},
                                                               {"simple", {"SimpleLock"}},
                                                               {"read_write", {"ReadWriteLock"}},
                                                               {"semaphore", {"Semaphore"}},
                                                               {"permits", {"Semaphore", "LeasedSemaphore"}},
                                                               {"latch", {"Latch"}}};
/// What the file grants for some calls and for clusters.
const Words kComforts{"pubsub", "spublish"};
/// What is sent without a script.
const Words kSentAlone{"get", "strlen"};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// What is quoted in a text: `a and 'SPUBLISH' or 'PUBLISH'`.
void add_quoted(std::string_view text, Words& out) {
  for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 1)) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == text.npos) return;
    const std::string word(text.substr(at + 1, end - at - 1));
    if (!word.empty() && word.front() < 'a') out.insert(lower(word));
    at = end;
  }
}

/// The commands of a script, which are in the first argument of each call, and of what it includes.
void add_called(const std::string& path, Words& out) {
  constexpr std::string_view kInclude = "--@include ";
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t at = line.find(kInclude); at != line.npos) {
      add_called(source_path("src/kinds/lua/" + line.substr(at + kInclude.size()) + ".lua"), out);
    }
    for (const std::string_view begin : {"call(", "send("}) {
      for (std::size_t at = line.find(begin); at != line.npos; at = line.find(begin, at + 1)) {
        const std::size_t from = at + begin.size();
        add_quoted(std::string_view(line).substr(from, line.find_first_of(",)", from) - from), out);
      }
    }
  }
}

Words called_in(const std::string& folder) {
  Words out;
  for (const auto& file : fs::directory_iterator(source_path("src/kinds/lua/" + folder))) add_called(file.path(), out);
  return out;
}

void add_commands(const std::vector<std::string>& rights, Words& out) {
  for (const std::string& right : rights) {
    if (right.front() == '+') out.insert(right.substr(1));
  }
}

TEST(LeastAclOfScripts, EachFolderIsOfAKind) {
  for (const auto& folder : fs::directory_iterator(source_path("src/kinds/lua"))) {
    const std::string name = folder.path().filename();
    EXPECT_TRUE(name == "shared" || kFolders.contains(name)) << name;
  }
}

TEST(LeastAclOfScripts, WhatTheyCallIsGranted) {
  for (const auto& [folder, kinds] : kFolders) {
    Words granted = kComforts;
    add_commands(least_rights(""), granted);
    for (const std::string& kind : kinds) add_commands(rights_named_for(kind), granted);
    // Called only where HDEL is refused as well.
    if (folder == "lock" || folder == "fair") granted.insert("del");
    EXPECT_THAT(called_in(folder), Not(IsEmpty()));
    EXPECT_THAT(called_in(folder), IsSubsetOf(granted)) << folder;
  }
}

TEST(LeastAclOfScripts, NothingIsGrantedForAKindThatNothingCalls) {
  std::map<std::string, Words> used;
  for (const auto& [folder, kinds] : kFolders) {
    for (const std::string& kind : kinds) used[kind].merge(called_in(folder));
  }
  for (auto& [kind, commands] : used) {
    commands.insert(kSentAlone.begin(), kSentAlone.end());
    Words granted;
    add_commands(rights_named_for(kind), granted);
    EXPECT_THAT(granted, Not(IsEmpty())) << kind;
    EXPECT_THAT(granted, IsSubsetOf(commands)) << kind;
  }
}

}  // namespace
}  // namespace holdfast::test::least_acl_of_scripts_test
