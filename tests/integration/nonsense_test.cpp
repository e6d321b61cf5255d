// SPDX-License-Identifier: Apache-2.0
// A server that answers questions with something of another shape: nobody takes that for a lock that is free.
#include "faults.hpp"
#include "support/made_up_node.hpp"

namespace holdfast::test::nonsense_test {
namespace {

using testing::HasSubstr;

/// What a question may be answered with, besides errors.
struct Nonsense {
  const char* name;
  std::string bytes;
};
const Nonsense kNonsense[] = {
    {"a status", "+OK\r\n"},
    {"a text", as_bulk("abc")},
    {"a number", as_number(7)},
    {"a truth", "#t\r\n"},
    {"an empty array", as_array({})},
    {"one text", as_array({as_bulk("abc")})},
    {"two texts", as_array({as_bulk("abc"), as_bulk("1")})},
    {"three numbers", as_array({as_number(1), as_number(2), as_number(3)})},
    {"five texts", as_array({as_bulk("a"), as_bulk("b"), as_bulk("c"), as_bulk("d"), as_bulk("e")})},
    {"an array in an array", as_array({as_array({})})},
    {"nothing", "_\r\n"},
};

/// A question, and those answers that are none of nonsense for it.
struct Question {
  const char* name;
  void (*ask)(const Client&);
  std::vector<std::string> sense;
};

using Names = std::vector<std::string>;
const Names kFree = {"nothing"};
const Names kNumber = {"a number", "a truth"};
const Names kText = {"a status", "a text", "nothing"};

template <class Result>
void drop(const Result&) {}

const Question kQuestions[] = {
    {"Lock::is_locked", [](const Client& client) { drop(client.lock("L").is_locked()); }, kFree},
    {"Lock::info", [](const Client& client) { drop(client.lock("L").info()); }, {}},
    {"Lock::is_held_by", [](const Client& client) { drop(client.lock("L").is_held_by("x")); }, kNumber},
    {"Lock::remaining", [](const Client& client) { drop(client.lock("L").remaining()); }, kNumber},
    {"Lock::ask_release", [](const Client& client) { drop(client.lock("L").ask_release()); }, kNumber},
    {"Lock::force_release", [](const Client& client) { drop(client.lock("L").force_release()); }, kNumber},
    {"FairLock::is_locked", [](const Client& client) { drop(client.fair_lock("L").is_locked()); }, kFree},
    {"FairLock::info", [](const Client& client) { drop(client.fair_lock("L").info()); }, kFree},
    {"FencedLock::is_locked", [](const Client& client) { drop(client.fenced_lock("L").is_locked()); }, kFree},
    {"FencedLock::latest_token", [](const Client& client) { drop(client.fenced_lock("L").latest_token()); }, kFree},
    {"SpinLock::is_locked", [](const Client& client) { drop(client.spin_lock("L").is_locked()); }, kFree},
    {"ReadWriteLock::is_locked", [](const Client& client) { drop(client.read_write_lock("L").writer().is_locked()); },
     kFree},
    {"ReadWriteLock::info", [](const Client& client) { drop(client.read_write_lock("L").writer().info()); }, {}},
    {"ReadWriteLock::is_held_by",
     [](const Client& client) { drop(client.read_write_lock("L").writer().is_held_by("x")); }, kNumber},
    {"SimpleLock::is_locked", [](const Client& client) { drop(client.simple_lock("L").is_locked()); }, kText},
    {"SimpleLock::is_held_by", [](const Client& client) { drop(client.simple_lock("L").is_held_by("x")); }, kText},
    {"LeasedSemaphore::is_locked", [](const Client& client) { drop(client.leased_semaphore("L").is_locked()); }, kFree},
    {"LeasedSemaphore::info", [](const Client& client) { drop(client.leased_semaphore("L").info()); }, {}},
    {"LeasedSemaphore::available", [](const Client& client) { drop(client.leased_semaphore("L").available()); }, kFree},
    {"LeasedSemaphore::is_held_by", [](const Client& client) { drop(client.leased_semaphore("L").is_held_by("x")); },
     kText},
    {"Semaphore::available", [](const Client& client) { drop(client.semaphore("L").available()); }, kFree},
    {"Semaphore::release",
     [](const Client& client) { drop(client.semaphore("L").release()); },
     {"a number", "a truth", "nothing"}},
    {"Semaphore::add", [](const Client& client) { drop(client.semaphore("L").add(1)); }, kNumber},
    {"Latch::count", [](const Client& client) { drop(client.latch("L").count()); }, kFree},
    {"Latch::count_down", [](const Client& client) { drop(client.latch("L").count_down()); }, kNumber},
    {"Client::list", [](const Client& client) { drop(client.list()); }, {}},
};

class AnswersOf : public testing::TestWithParam<Nonsense> {};

TEST_P(AnswersOf, AnotherShapeAreErrors) {
  const Nonsense& nonsense = GetParam();
  const MadeUpNode node([&](const MadeUpNode::Command& command) -> std::string {
    if (command.front() == "CLIENT") return "+OK\r\n";
    if (command.front() == "SCRIPT") return as_bulk(std::string(40, 'a'));
    return nonsense.bytes;
  });
  Config config = quick_config("redis://" + node.address());
  config.loss_notice = false;
  const Client client(config);
  for (const Question& question : kQuestions) {
    const std::optional<Error> error = error_of([&] {
      question.ask(client);
      return true;
    });
    if (std::ranges::count(question.sense, nonsense.name) > 0) {
      EXPECT_FALSE(error) << question.name << " says " << error->what();
    } else {
      EXPECT_TRUE(error) << question.name << " believes " << nonsense.name;
      EXPECT_EQ(error ? error->code() : code(Errc::server_error), code(Errc::server_error)) << question.name;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Nonsense>& info) {
  std::string name = info.param.name;
  std::erase(name, ' ');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of, AnswersOf, testing::ValuesIn(kNonsense), name_of);

/// As a Lock of a list is asked: its keys, then their sizes, then what they have.
TEST(Nonsense, AboutOneLockOfAListIsAnError) {
  const std::string names = as_array({as_bulk("0"), as_array({as_bulk("L"), as_bulk("{L}:timeout")})});
  const std::string owner = "99999999-2222-4333-8444-555555555555:7";
  for (const KeyForm what : {KeyForm::locks, KeyForm::read_write_locks, KeyForm::simple_locks,
                             KeyForm::leased_semaphores, KeyForm::semaphores, KeyForm::latches, KeyForm::any}) {
    for (const char* answer : {"+OK\r\n", ":7\r\n", "*1\r\n$3\r\nabc\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n"}) {
      if (*answer == '+' && what != KeyForm::locks && what != KeyForm::read_write_locks &&
          what != KeyForm::leased_semaphores && what != KeyForm::any) {
        continue;  // a text is what those have
      }
      const MadeUpNode node([&](const MadeUpNode::Command& command) -> std::string {
        const std::string& word = command.front();
        if (word == "SCAN") return names;
        if (word == "HLEN" || word == "HEXISTS" || word == "STRLEN" || word == "ZCARD") return as_number(1);
        if (word == "CLIENT" || word == "SCRIPT") return "+OK\r\n";
        if (word == "PTTL") return as_number(1000);
        return answer;
      });
      const Client client(quick_config("redis://" + node.address()));
      const std::optional<Error> error = error_of([&] { return client.list("*", InfoDetail::owner, what); });
      EXPECT_TRUE(error) << static_cast<int>(what) << " believes " << answer;
      EXPECT_THAT(error ? error->what() : "", HasSubstr("makes no sense"));
    }
  }
}

}  // namespace
}  // namespace holdfast::test::nonsense_test
