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

/// The sources in a folder, or one file.
std::string text_of(const std::string& path) {
  if (!std::filesystem::is_directory(source_path(path))) return read(path);
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(path))) {
    const std::string ending = entry.path().extension();
    if (ending == ".cpp" || ending == ".hpp") all += read(path + "/" + entry.path().filename().string());
  }
  return all;
}

/// A kind in the words of each place, as regular expressions.
struct Words {
  std::string call;   // of the library's interface
  std::string wire;   // the namespace of its calls
  std::string taker;  // in chaos and interop
  std::string tool;   // how the tool is told
};
const std::map<std::string, Words>& words() {
  static const std::map<std::string, Words> all{
      {"lock", {R"re(\block\()re", "lock", "lock", R"re(LockKind::\w+, "lock")re"}},
      {"fenced_lock", {"fenced_lock", "fenced", "fenced", R"re(LockKind::\w+, "fenced")re"}},
      {"fair_lock", {"fair_lock", "fair", "fair", R"re(LockKind::\w+, "fair")re"}},
      {"spin_lock", {"spin_lock", "spin", "spin", R"re(LockKind::\w+, "spin")re"}},
      {"read_write_lock", {"read_write_lock", "read_write", "read_write", R"re(LockKind::\w+, "read-write")re"}},
      {"simple_lock", {"simple_lock", "simple", "simple", R"re(LockKind::\w+, "simple")re"}},
      {"leased_semaphore", {"leased_semaphore", "permits", "leased", R"re(LockKind::\w+, "permit")re"}},
      {"semaphore", {R"re([ .]semaphore\()re", "semaphore", "semaphore", R"re(LockKind::\w+, "semaphore")re"}},
      {"latch", {R"re(\blatch\()re", "latch", "latch", R"re(LockKind::\w+, "latch")re"}},
      {"multi_lock", {"multi_lock|MultiLock", "lock::release|wire::any", "multi", R"re(\bMultiLock\b)re"}},
      {"any_of", {R"re((\.|->)any_of\(|AnyLock)re", "any", "any", R"re(\bany_of\()re"}},
      {"red_lock", {"RedLock", "red", "red", R"re(\bRedLock\()re"}},
      {"leader", {"Leader", "leader", "leader", R"re(int elect\()re"}}};
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
  EXPECT_GE(checked, 13U * 9U) << "a place or a kind was not found";
  for (const auto& [kind, row] : rows) EXPECT_TRUE(kinds().contains(kind)) << kind << " is no kind any more";
  std::cout << checked << " cells, " << holes << " holes with a reason\n";
}

}  // namespace
}  // namespace holdfast::test::kinds_everywhere_test
