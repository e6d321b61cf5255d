// The checkers of docs/fencing.md, as they stand on the page.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::fencing_page_test {
namespace {

/// The n-th block of this language.
std::string block(const std::string& language, int nth = 0) {
  std::ifstream file(source_path("docs/fencing.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string head = "```" + language + "\n";
  std::size_t begin = page.find(head);
  for (; nth > 0; --nth) begin = page.find(head, begin + 1);
  begin += head.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(FencingPage, TheLuaScriptRefusesWhatIsLower) {
  RedisServer server;
  Raw raw(server);
  const auto write = [&](const char* token, const char* value) {
    return raw.command("EVAL", block("lua"), "2", "{d}", "{d}:fence", token, value).integer;
  };
  EXPECT_EQ(write("9", "first"), 1);
  EXPECT_EQ(write("10", "second"), 1);
  EXPECT_EQ(write("9", "late"), 0);
  EXPECT_EQ(raw.command("GET", "{d}").text, "second");
  EXPECT_EQ(write("10", "third"), 1) << "the same holder";
  EXPECT_EQ(raw.command("GET", "{d}").text, "third");
}

int run_program(const std::vector<std::string>& argv, const std::string& folder) {
  std::string line = "cd '" + folder + "' && ";
  for (const std::string& arg : argv) {
    line += "'";
    for (const char each : arg) line += each == '\'' ? std::string("'\\''") : std::string(1, each);
    line += "' ";
  }
  return std::system(line.c_str());
}

TEST(FencingPage, TheStatementRefusesWhatIsLowerInSqlite) {
  const TempDir folder;
  if (run_program({"python3", "-c", "import sqlite3"}, folder.path().string()) != 0) GTEST_SKIP() << "no sqlite3 here";
  const std::string program = R"py(
import sqlite3, sys
base = sqlite3.connect(":memory:")
base.execute(sys.argv[1])
said = [base.execute(sys.argv[2], {"name": "orders", "token": t}).rowcount for t in (9, 10, 9, 10, 11, 1)]
assert said == [1, 1, 0, 1, 1, 0], said
assert base.execute("SELECT token FROM fence").fetchall() == [(11,)]
)py";
  EXPECT_EQ(run_program({"python3", "-c", program, block("sql"), block("sql", 1)}, folder.path().string()), 0);
}

TEST(FencingPage, TheShellLinesRefuseWhatIsLower) {
  const TempDir folder;
  const auto write = [&](const std::string& token, const std::string& text) {
    return run_program({"sh", "-c", "export HOLDFAST_TOKEN=" + token + "; echo " + text + " | " + block("sh")},
                       folder.path().string());
  };
  EXPECT_EQ(write("9", "first"), 0);
  EXPECT_EQ(write("10", "second"), 0);
  EXPECT_NE(write("9", "late"), 0);
  std::ifstream file(folder.file("data"));
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(file), {}}), "10\nsecond\n");
}

}  // namespace
}  // namespace holdfast::test::fencing_page_test
