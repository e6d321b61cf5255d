// SPDX-License-Identifier: Apache-2.0
// The checkers of docs/fencing.md, as they stand on the page.
#include "fencing_page.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres.hpp"
#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::fencing_page_test {
namespace {

std::string block(const std::string& language, int nth = 0) { return block_of_fencing_page(language, nth); }

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

class FencingPagePostgres : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!Postgres::is_installed()) return;
    base = std::make_unique<Postgres>();
    base->ask(block("sql") + "CREATE TABLE data (value TEXT); INSERT INTO data VALUES ('none');");
  }
  static void TearDownTestSuite() { base.reset(); }
  void SetUp() override {
    if (base == nullptr) GTEST_SKIP() << "no PostgreSQL here";
  }
  static std::string admit(int token) {
    return base->ask(block("sql", 1), {"name='orders'", "token=" + std::to_string(token)});
  }
  /// A client in a transaction that has executed the statement; its answers are read line by line.
  static Process begun(int token) {
    Process client = base->psql({"name='more'", "token=" + std::to_string(token)});
    client.write_line("BEGIN;");
    EXPECT_EQ(client.read_line(), "BEGIN");
    client.write_line(block("sql", 1));
    return client;
  }
  static void write(Process& client, const std::string& value) {
    client.write_line("UPDATE data SET value = '" + value + "';");
    EXPECT_EQ(client.read_line(), "UPDATE 1");
    client.write_line("COMMIT;");
    EXPECT_EQ(client.read_line(), "COMMIT");
  }
  static inline std::unique_ptr<Postgres> base;
};

TEST_F(FencingPagePostgres, TheStatementRefusesWhatIsLower) {
  std::vector<std::string> said;
  for (const int token : {9, 10, 9, 10, 11, 1}) said.push_back(admit(token));
  const std::string yes = "INSERT 0 1\n", no = "INSERT 0 0\n";
  EXPECT_THAT(said, testing::ElementsAre(yes, yes, no, yes, yes, no));
  EXPECT_EQ(base->ask("SELECT token FROM fence WHERE name = 'orders';"), "11\n");
}

TEST_F(FencingPagePostgres, WhoComesLaterWaitsForTheCommitAndWhoIsOldIsRefusedThen) {
  Process first = begun(20);
  EXPECT_EQ(first.read_line(), "INSERT 0 1");
  Process later = begun(21);
  Process old = begun(19);
  old.write_line("ROLLBACK;");
  const auto wait_for_it = [] {
    return base->ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock';") == "2\n";
  };
  EXPECT_TRUE(eventually(wait_for_it));
  write(first, "first");
  EXPECT_EQ(later.read_line(), "INSERT 0 1");
  write(later, "later");
  EXPECT_EQ(old.read_line(), "INSERT 0 0");
  EXPECT_EQ(base->ask("SELECT value FROM data;"), "later\n");
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
