// SPDX-License-Identifier: Apache-2.0
// Every kind of lock is in every place, or the committed table (tests/kinds.md) says why not.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/paths.hpp"

namespace holdfast::test::kinds_everywhere_test {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(source_path(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The sources in a folder and in those below it, or one file.
std::string text_of(const std::string& path) {
  if (!std::filesystem::is_directory(source_path(path))) return read(path);
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path(path))) {
    const std::string ending = entry.path().extension();
    if (ending != ".cpp" && ending != ".hpp") continue;
    std::ifstream file(entry.path());
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

/// A kind in the words of each place, as regular expressions.
struct Words {
  std::string call;   // of the library's interface
  std::string wire;   // the namespace of its calls
  std::string taker;  // in chaos and interop
  std::string tool;   // how the tool is told
  std::string c;
};
const std::map<std::string, Words>& words() {
  static const std::map<std::string, Words> all{
      {"lock", {R"re(\block\()re", "lock", "lock", R"re(LockKind::\w+, "lock")re", "HF_LOCK"}},
      {"fenced_lock", {"fenced_lock", "fenced", "fenced", R"re(LockKind::\w+, "fenced")re", "HF_FENCED"}},
      {"fair_lock", {"fair_lock", "fair", "fair", R"re(LockKind::\w+, "fair")re", "HF_FAIR"}},
      {"spin_lock", {"spin_lock", "spin", "spin", R"re(LockKind::\w+, "spin")re", "HF_SPIN"}},
      {"read_write_lock",
       {"read_write_lock", "read_write", "read_write", R"re(LockKind::\w+, "read-write")re", "HF_WRITE"}},
      {"simple_lock", {"simple_lock", "simple", "simple", R"re(LockKind::\w+, "simple")re", "HF_SIMPLE"}},
      {"leased_semaphore", {"leased_semaphore", "permits", "leased", R"re(LockKind::\w+, "permit")re", "HF_LEASED"}},
      {"semaphore",
       {R"re([ .]semaphore\()re", "semaphore", "semaphore", R"re(LockKind::\w+, "semaphore")re", "hf_semaphore_open"}},
      {"latch", {R"re(\blatch\()re", "latch", "latch", R"re(LockKind::\w+, "latch")re", "hf_latch_open"}},
      {"multi_lock",
       {"multi_lock|MultiLock", "lock::release|wire::any", "multi", R"re(\bMultiLock\b)re", "hf_multi_open"}},
      {"any_lock", {R"re((\.|->)any_lock\(|AnyLock)re", "any", "any", R"re(\bany_lock\()re", "hf_any_open"}},
      {"red_lock", {"RedLock", "red", "red", R"re(\bRedLock\()re", "hf_red_open"}},
      {"leader", {"Leader", "leader", "leader", R"re(\bElectVerb\b)re", "hf_leader_open"}}};
  return all;
}

struct Place {
  std::string name;
  std::vector<std::string> paths;
  /// What must be found there for this kind.
  std::string (*wanted)(const Words&);
};
const std::vector<Place>& places() {
  static const auto call = [](const Words& kind) { return kind.call; };
  static const auto taker = [](const Words& kind) { return "[\"=]" + kind.taker + "[\".]"; };
  static const std::vector<Place> all{
      {"test kit", {"tests/kit"}, call},
      {"simulator", {"tests/sim/member.cpp", "tests/sim/caller_counting.cpp"}, call},
      {"oracle", {"tests/oracle"}, [](const Words& kind) { return "wire::" + kind.wire + "::"; }},
      {"chaos", {"tests/chaos"}, taker},
      {"conformance", {"tests/conformance", "tests/support/taker_locks.hpp"}, call},
      {"tool", {"src/cli"}, [](const Words& kind) { return kind.tool; }},
      {"C", {"tests/c"}, [](const Words& kind) { return kind.c; }},
      {"metrics", {"tests/integration/metrics_test.cpp"}, call},
      {"migrating page", {"docs/migrating.md"}, call},
      {"interop", {"tests/interop"}, [](const Words& kind) { return "[\"=]" + kind.taker + "[\".]|" + kind.call; }}};
  return all;
}

/// The kinds that a client makes, and those that are made of its locks.
std::set<std::string> kinds() {
  static const std::regex made(R"re(\n  \w+ (\w+)\((?:std::string_view name|const std::vector<std::string>& names))re");
  const std::string header = read("include/holdfast/client.hpp");
  std::set<std::string> all{"red_lock", "leader"};
  for (auto each = std::sregex_iterator(header.begin(), header.end(), made); each != std::sregex_iterator(); ++each) {
    all.insert((*each)[1]);
  }
  return all;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) {
    const std::size_t begin = cell.find_first_not_of(' ');
    if (begin != cell.npos) all.push_back(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return all;
}

/// The table: of each kind, its cells by place.
std::map<std::string, std::map<std::string, std::string>> table() {
  std::map<std::string, std::map<std::string, std::string>> all;
  std::vector<std::string> head;
  std::istringstream page(read("tests/kinds.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| ---")) continue;
    std::vector<std::string> row = cells(line);
    if (head.empty()) {
      head = std::move(row);
      continue;
    }
    std::string kind = row.front();
    std::erase(kind, '`');
    for (std::size_t i = 1; i < row.size() && i < head.size(); ++i) all[kind][head[i]] = row[i];
  }
  return all;
}

TEST(KindsEverywhere, EachIsInEachPlaceOrTheTableSaysWhyNot) {
  const auto rows = table();
  std::size_t checked = 0, holes = 0;
  for (const Place& place : places()) {
    std::string text;
    for (const std::string& path : place.paths) text += text_of(path);
    if (text.find("key_kinds.hpp\"") != text.npos) text += read("tests/support/key_kinds.hpp");
    ASSERT_FALSE(text.empty()) << place.name;
    for (const std::string& kind : kinds()) {
      SCOPED_TRACE(kind + " in the " + place.name);
      ASSERT_TRUE(words().contains(kind)) << "a new kind: how is it called in each place?";
      ASSERT_TRUE(rows.contains(kind) && rows.at(kind).contains(place.name)) << "tests/kinds.md has no such cell";
      const std::string& cell = rows.at(kind).at(place.name);
      const bool there = std::regex_search(text, std::regex(place.wanted(words().at(kind))));
      EXPECT_EQ(cell == "yes", there) << "the table says: " << cell;
      EXPECT_TRUE(cell == "yes" || cell.size() > 10) << "a reason";
      ++checked;
      holes += cell == "yes" ? 0 : 1;
    }
  }
  EXPECT_GE(checked, 13U * 10U) << "a place or a kind was not found";
  for (const auto& [kind, row] : rows) EXPECT_TRUE(kinds().contains(kind)) << kind << " is no kind any more";
  std::cout << checked << " cells, " << holes << " holes with a reason\n";
}

// ---- what a new kind touches ----

/// The spin lock, which is as small as a kind can be, in the words of the sources and of the pages.
bool names_spin(const std::string& text) {
  const char* const words[] = {"SpinLock",     "spin_lock",          "wire::spin", "LockKind::spin",
                               "spin_release", "spin_force_release", "\"spin\""};
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != text.npos; });
}

/// The files that name it, below a folder, or of one file.
std::set<std::string> naming(const std::string& path) {
  if (!std::filesystem::is_directory(source_path(path))) {
    return names_spin(read(path)) ? std::set{path} : std::set<std::string>();
  }
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(path))) {
    all.merge(naming((path.ends_with('/') ? path : path + "/") + entry.path().filename().string()));
  }
  return all;
}

/// The files and folders that CONTRIBUTING lists, for the spin lock.
std::set<std::string> listed() {
  const std::string page = read("CONTRIBUTING.md");
  const std::size_t begin = page.find("## Add a kind of lock");
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  static const std::regex file(R"re(`((?:src|include|docs|tests|examples|README)[/.][^ `]*)`)re");
  std::set<std::string> all;
  for (auto each = std::sregex_iterator(section.begin(), section.end(), file); each != std::sregex_iterator(); ++each) {
    const std::string path = std::regex_replace((*each)[1].str(), std::regex("/<kind>/.*"), "/spin/");
    all.insert(std::regex_replace(path, std::regex("<kind>"), "spin_lock"));
  }
  return all;
}

TEST(KindsEverywhere, ContributingListsTheFilesThatNameOne) {
  const std::set<std::string> list = listed();
  for (const std::string& each : list) EXPECT_FALSE(naming(each).empty()) << each << " does not name it";
  std::set<std::string> product = naming("include");
  product.merge(naming("src"));
  std::set<std::string> pages = naming("README.md");
  pages.merge(naming("examples"));
  for (const auto& entry : std::filesystem::directory_iterator(source_path("docs"))) {
    if (entry.is_regular_file()) pages.merge(naming("docs/" + entry.path().filename().string()));
  }
  const auto is_listed = [&](const std::string& file) {
    return std::ranges::any_of(
        list, [&](const std::string& each) { return each.ends_with('/') ? file.starts_with(each) : file == each; });
  };
  for (const std::string& file : product) EXPECT_TRUE(is_listed(file)) << file;
  for (const std::string& file : pages) EXPECT_TRUE(is_listed(file)) << file;
  const auto scripts = std::ranges::count_if(product, [](const auto& file) { return file.ends_with(".lua"); });
  const auto files = static_cast<std::ptrdiff_t>(product.size()) - scripts;
  EXPECT_LE(files, 13) << "a kind is data: what else has to know it?";
  std::cout << files << " files and " << scripts << " scripts, " << pages.size() << " pages\n";
}

}  // namespace
}  // namespace holdfast::test::kinds_everywhere_test
