// SPDX-License-Identifier: Apache-2.0
// Several kinds of locks on one name: the table of docs/guarantees-by-kind.md, which must be right, and what it means.
#include <fstream>
#include <sstream>

#include "faults.hpp"
#include "support/key_kinds.hpp"
#include "support/paths.hpp"

namespace holdfast::test::mixed_kinds_test {
namespace {

/// A lock of each kind; `reads`: the readers' side.
KeyLock lock_of(const Client& client, const std::string& kind, bool reads = false) {
  if (reads && kind == "ReadWriteLock") return client.read_write_lock("orders").reader();
  return key_kind(&KeyKind::type, kind)->make(client, "orders");
}

struct Cell {
  std::string held, asked, word;
};
void PrintTo(const Cell& cell, std::ostream* out) { *out << cell.held << cell.asked; }

/// The words between bars of a line, without backquotes.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    std::erase_if(cell, [](char c) { return c == '`' || c == ' '; });
    out.push_back(cell);
  }
  return out;
}

std::vector<Cell> table() {
  std::ifstream page(source_path("docs/guarantees-by-kind.md"));
  std::vector<Cell> out;
  std::vector<std::string> head;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| held as")) {
      head = cells(line);
    } else if (!head.empty() && line.starts_with("| `")) {
      const std::vector<std::string> row = cells(line);
      for (std::size_t i = 1; i < head.size(); ++i) out.push_back({row.front(), head[i], row.at(i)});
    } else if (!head.empty() && !line.starts_with("| ---")) {
      break;
    }
  }
  return out;
}

TEST(MixedKinds, TheTableNamesEveryKindInBothDirections) { EXPECT_EQ(table().size(), 6U * 6U); }

class MixedKinds : public Faults, public testing::WithParamInterface<Cell> {
 protected:
  /// What somebody meets who asks while it is held: `waits`, or `refused`.
  std::string met(const KeyLock& asked) {
    const auto before = raw.command("DUMP", "orders").text;
    const auto error = error_of([&] { return asked.acquire({.wait = 300ms}); });
    EXPECT_EQ(raw.command("DUMP", "orders").text, before) << "what is there has changed";
    if (!error) return "entered";
    if (error->code() == Errc::timed_out) return "waits";
    if (error->code() != Errc::wrong_type) return error->what();
    EXPECT_FALSE(error->cause().empty()) << "it must say what is there";
    return "refused";
  }

  Client one_{config()}, other_{config()};
  const KeyLock held_ = lock_of(one_, GetParam().held);
};
INSTANTIATE_TEST_SUITE_P(Of, MixedKinds, testing::ValuesIn(table()),
                         [](const auto& each) { return "A" + each.param.held + "AskedForAsA" + each.param.asked; });

TEST_P(MixedKinds, NeverHaveItTogetherAndTheTableSaysWhatHappens) {
  Hold hold = held_.acquire({.lease = fixed(1min)});
  EXPECT_EQ(met(lock_of(other_, GetParam().asked)), GetParam().word);
  EXPECT_EQ(met(lock_of(one_, GetParam().asked)), GetParam().word) << "of the same client";
  EXPECT_EQ(met(lock_of(other_, GetParam().asked, true)), GetParam().word) << "to read";
  EXPECT_FALSE(hold.is_lost());
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(lock_of(other_, GetParam().asked).try_lock()) << "free is free, whatever it was";
}

TEST_P(MixedKinds, AForcedReleaseTakesWhatItCouldWaitForAndLeavesTheRest) {
  if (GetParam().held == "SimpleLock" && GetParam().asked == "SimpleLock") return;
  Hold hold = held_.acquire({.lease = fixed(1min)});
  const KeyLock asked = lock_of(other_, GetParam().asked);
  if (GetParam().word == "refused") {
    const auto error = error_of([&] { return asked.force_release(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::wrong_type);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  } else {
    EXPECT_TRUE(asked.force_release());
    EXPECT_FALSE(raw.exists("orders"));
  }
}

/// Only a message tells them. Redis 7.0 sends it before the reply to the release, Redis 8 behind it.
TEST_F(Faults, AReleaseIsHeardByThoseOfItsClientWhoWaitForAnotherKind) {
  Config settings = config();
  settings.lease = settings.timing.safety_poll = 2 * kPatience;
  const Client client(settings);
  const auto passes = [&](const BasicLock& held, const BasicLock& asked) {
    Hold hold = held.acquire();
    auto waiting = in_thread([&] { return asked.acquire({.wait = kPatience}); });
    EXPECT_TRUE(listeners(raw, "orders"));
    EXPECT_FALSE(ready(waiting, 50ms));
    hold.release();
    EXPECT_NO_THROW(static_cast<void>(waiting.get()));
  };
  const Lock lock = client.lock("orders");
  passes(lock, client.fenced_lock("orders"));
  passes(client.fenced_lock("orders"), lock);
  passes(lock, client.multi_lock({"orders", "stock"}));
  passes(client.multi_lock({"orders", "stock"}), lock);
  passes(lock, client.any_lock({"orders"}));
}

TEST_P(MixedKinds, WhoWaitsForAnotherKindEntersInTheEnd) {
  if (GetParam().word != "waits") return;
  Config settings = config();
  settings.timing.safety_poll = 500ms;  // which finds what nobody tells
  Client waiter(settings);
  Hold hold = held_.acquire();
  auto waiting = in_thread([asked = lock_of(waiter, GetParam().asked)] { return asked.acquire({.wait = 30s}); });
  EXPECT_FALSE(ready(waiting, 50ms));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_NO_THROW(static_cast<void>(waiting.get()));
}

}  // namespace
}  // namespace holdfast::test::mixed_kinds_test
