// SPDX-License-Identifier: Apache-2.0
// Real processes that are stopped past their lease, between their look at the lock and their write: what each store
// takes from them. A thousand for each store (docs/fencing.md):
//   HOLDFAST_FROZEN_ROUNDS=1000 build/tests/integration_tests --gtest_filter='*FrozenWriters.*'
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <ostream>

#include <holdfast/fence.hpp>

#include "faults.hpp"
#include "fencing_page.hpp"
#include "postgres.hpp"
#include "support/paths.hpp"

namespace holdfast::test::frozen_writers_test {
namespace {

constexpr auto kLease = 60ms;
constexpr int kAtOnce = 4;

int rounds() {
  const char* const text = std::getenv("HOLDFAST_FROZEN_ROUNDS");
  return text == nullptr ? 8 : std::atoi(text);
}

/// By the word after the program's name and its state: `123 (name) T ...`.
bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end != text.npos && text.size() > end + 2 && text[end + 2] == 'T';
}

struct Count {
  int frozen = 0, stale = 0, refused = 0;
};

class FrozenWriters : public Faults, public testing::WithParamInterface<const char*> {
 protected:
  std::string store() const { return GetParam(); }

  /// The store's words for a lock, as frozen_writer takes them; each lock has data of its own.
  std::vector<std::string> words(const std::string& name) {
    if (store() == "redis") return {"redis", "{" + name + "}", block_of_fencing_page("lua")};
    if (store() == "sql") {
      std::vector<std::string> all{"sql", block_of_fencing_page("sql", 1)};
      const std::vector<std::string> psql = base_->psql_words({"name='" + name + "'"});
      all.insert(all.end(), psql.begin(), psql.end());
      return all;
    }
    return {store(), folder_.file(name)};
  }

  /// A round: the frozen one takes the lock and stops; its lease ends; its successor takes the lock and writes; then
  /// the frozen one goes on.
  void round(Process& frozen, Process& successor, const std::string& name, Count& count) {
    frozen.write_line("write");
    ASSERT_TRUE(eventually([&] { return is_stopped(frozen.pid()); }));
    successor.write_line("write");
    // It waits until the lease is over, and stops as well when it has the lock.
    ASSERT_TRUE(eventually([&] { return is_stopped(successor.pid()); }));
    successor.signal(SIGCONT);
    const std::string written = successor.read_line().value_or("nothing");
    frozen.signal(SIGCONT);
    const std::string late = frozen.read_line().value_or("nothing");
    ASSERT_TRUE(written.starts_with("wrote ")) << written << successor.errors() << name;
    ASSERT_TRUE(late.starts_with("wrote ") || late.starts_with("refused ")) << late << frozen.errors();
    const auto token = [](const std::string& line) { return std::stoll(line.substr(line.find(' ') + 1)); };
    ASSERT_LT(token(late), token(written)) << "it had the lock before";
    ++count.frozen;
    ++(late.starts_with("wrote ") ? count.stale : count.refused);
  }

  Count run(const std::string& name, int times) {
    Count count;
    std::vector<std::string> args{server.socket_path(), name, std::to_string(kLease.count())};
    const std::vector<std::string> its_store = words(name);
    args.insert(args.end(), its_store.begin(), its_store.end());
    const std::string program = build_path("tests/support/frozen_writer");
    Process frozen(program, args);
    Process successor(program, args);
    for (int i = 0; i < times && !HasFatalFailure(); ++i) round(frozen, successor, name, count);
    for (Process* each : {&frozen, &successor}) {
      each->close_stdin();
      EXPECT_EQ(each->finish(), ExitStatus{}) << each->errors();
    }
    return count;
  }

  const TempDir folder_;
  std::optional<Postgres> base_;
};

TEST_P(FrozenWriters, WriteOnlyWhereNobodyChecks) {
  if (store() == "sql") {
    if (!Postgres::is_installed()) GTEST_SKIP() << "no PostgreSQL here";
    base_.emplace();
    base_->ask(block_of_fencing_page("sql"));
  }
  std::vector<std::future<Count>> all;
  for (int i = 0; i < kAtOnce; ++i) {
    all.push_back(in_thread([this, i] { return run("data" + std::to_string(i), rounds() / kAtOnce); }));
  }
  Count count;
  for (auto& each : all) {
    const Count its = each.get();
    count.frozen += its.frozen;
    count.stale += its.stale;
    count.refused += its.refused;
  }
  std::cout << store() << ": " << count.frozen << " writes by processes that were stopped past their lease, "
            << count.stale << " of them stale and taken, " << count.refused << " refused" << std::endl;
  EXPECT_EQ(count.frozen, rounds());
  EXPECT_EQ(count.stale, store() == "plain" ? count.frozen : 0);
  EXPECT_EQ(count.refused, store() == "plain" ? 0 : count.frozen);
}

INSTANTIATE_TEST_SUITE_P(Of, FrozenWriters, testing::Values("plain", "file", "redis", "sql"),
                         [](const auto& its) { return std::string(its.param); });

}  // namespace
}  // namespace holdfast::test::frozen_writers_test
