// SPDX-License-Identifier: Apache-2.0
// list() with prefixes that are patterns to the server, and from servers that reply what they were not asked for.
#include <stdexcept>

#include "face/queries.hpp"
#include "faults.hpp"
#include "lock/client/closing.hpp"
#include "support/held_lock.hpp"
#include "support/made_up_node.hpp"

namespace holdfast::test::listing_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_in_list(Client& client, const std::string& pattern = "*") {
  std::vector<std::string> names;
  for (const LockInfo& each : client.list(pattern)) names.push_back(each.name);
  std::ranges::sort(names);
  return names;
}

/// Two keys of others that the prefix would match if it were a pattern.
struct OddPrefix {
  std::string prefix, others, shorter;
};
class ListWithOddPrefix : public Faults, public testing::WithParamInterface<OddPrefix> {};
INSTANTIATE_TEST_SUITE_P(Prefixes, ListWithOddPrefix,
                         testing::Values(OddPrefix{"app[1]:", "app1:job", "app1:"},
                                         OddPrefix{"a*:", "another:job", "a:"}, OddPrefix{"a?\\", "ab\\job", "a"},
                                         OddPrefix{"[^a]-", "b-job", "b-"}));

TEST_P(ListWithOddPrefix, ShowsItsOwnLocksAndNoOthers) {
  Config settings = config();
  settings.name_prefix = GetParam().prefix;
  Client client(settings);
  const Hold one = client.lock("job:1").acquire();
  const Hold two = client.lock("task").acquire();
  put_held_lock(raw, GetParam().others);
  put_held_lock(raw, GetParam().shorter);
  EXPECT_THAT(names_in_list(client), ElementsAre("job:1", "task"));
  EXPECT_THAT(names_in_list(client, "job:[12]"), ElementsAre("job:1")) << "what the caller asks for is a pattern";
}

/// `form name: its owners`, in order.
std::vector<std::string> found_as(const Client& client, const std::string& pattern, KeyForm what = KeyForm::any) {
  std::vector<std::string> all;
  for (const LockInfo& each : client.list(pattern, InfoDetail::owner, what)) {
    all.push_back(std::to_string(static_cast<int>(each.form.value())) + " " + each.name + ": " +
                  std::to_string(each.holders.size()));
  }
  std::ranges::sort(all);
  return all;
}

class ListOfAny : public Faults {
 protected:
  Hold permit_of(const std::string& name) { return permit_of(client_, name); }
  static Hold permit_of(const Client& client, const std::string& name) {
    const LeasedSemaphore semaphore = client.leased_semaphore(name);
    EXPECT_TRUE(semaphore.init(2));
    return semaphore.acquire();
  }
  Config with_prefix() {
    Config made = config();
    made.name_prefix = "app:";
    return made;
  }

  Client client_{with_prefix()};
};

TEST_F(ListOfAny, SaysAsWhatItFoundEach) {
  const Hold plain = client_.lock("plain").acquire();
  const Hold counted = client_.fenced_lock("counted").acquire();
  const Hold reader = client_.read_write_lock("table").reader().acquire();
  const Hold writer = client_.read_write_lock("other").writer().acquire();
  const Hold simple = client_.simple_lock("simple").acquire();
  const std::vector<Hold> permits = [&] {
    std::vector<Hold> all;
    all.push_back(permit_of("gpus"));
    all.push_back(client_.leased_semaphore("gpus").acquire());
    return all;
  }();
  EXPECT_TRUE(client_.leased_semaphore("none-taken").init(2));
  raw.command("HSET", "app:mode-only", "mode", "read");
  raw.command("HSET", "app:large", "mode", "x", "a", "b", "c", "d");
  raw.command("ZADD", "app:scores", "1", "a");
  raw.command("ZADD", "{app:no-semaphore}:timeout", "1", "a");
  raw.command("ZADD", "{another:gpus}:timeout", "1", "a");
  EXPECT_THAT(found_as(client_, "*"),
              ElementsAre("0 counted: 1", "0 plain: 1", "1 other: 1", "1 table: 1", "3 gpus: 2"));
  EXPECT_THAT(found_as(client_, "[gt]*"), ElementsAre("1 table: 1", "3 gpus: 2"));
  EXPECT_THAT(found_as(client_, "gpus"), ElementsAre("3 gpus: 2"));
  EXPECT_THAT(found_as(client_, "s*", KeyForm::simple_locks), ElementsAre("2 simple: 1"));
}

/// `a` and `{a}` keep what is held under the same key.
TEST_F(ListOfAny, TellsPermitsByTheBracesOfTheirNames) {
  const Hold braced = permit_of("{tag}:one"), plain = permit_of("two"), either = permit_of("{three}");
  const std::vector<std::string> all{"3 two: 1", "3 {tag}:one: 1", "3 {three}: 1"};
  EXPECT_EQ(found_as(client_, "*", KeyForm::leased_semaphores), all);
  EXPECT_EQ(found_as(client_, "*"), all);
  EXPECT_THAT(found_as(client_, "{t*"), ElementsAre("3 {tag}:one: 1", "3 {three}: 1"));
  EXPECT_THAT(found_as(client_, "t*"), ElementsAre("3 two: 1"));
  EXPECT_THAT(found_as(client_, "*o"), ElementsAre("3 two: 1"));
  EXPECT_THAT(found_as(client_, "{three}"), ElementsAre("3 {three}: 1"));
  Client without(config());
  EXPECT_THAT(found_as(without, "*"), ElementsAre("3 app:two: 1", "3 app:{tag}:one: 1", "3 app:{three}: 1"));
  const Hold four = permit_of(without, "{four}");
  EXPECT_THAT(found_as(without, "f*"), testing::IsEmpty()) << "the set of {four} is that of four";
  EXPECT_THAT(found_as(without, "?four?"), ElementsAre("3 {four}: 1"));
}

/// A server that says of whatever scan that it found these.
class ListFromALiar : public testing::Test {
 protected:
  Config settings() const {
    Config made = Config::from_url("redis://" + liar.address());
    made.name_prefix = "a-long-prefix:";
    return made;
  }

  std::string answer(const MadeUpNode::Command& command) const {
    const std::string& verb = command.front();
    if (verb == "SCAN") {
      return "*2\r\n" + as_bulk("0") +
             as_array({as_bulk("a"), as_bulk(""), as_bulk("a-long-prefix:mine"), as_bulk("a-long-prefixmine")});
    }
    if (verb == "HLEN") return as_number(1);
    if (verb == "HGETALL") return as_array({as_bulk(kSomebodyElse), as_bulk("1")});
    if (verb == "PTTL") return as_number(1000);
    return "+OK\r\n";
  }

  MadeUpNode liar{[this](const MadeUpNode::Command& command) { return answer(command); }};
};

TEST_F(ListFromALiar, HasOnlyWhatWasAskedFor) {
  Client client(settings());
  EXPECT_THAT(names_in_list(client), ElementsAre("mine"));
}

/// Who waits for a result, or is dropped without one.
class Waiting final : public detail::Receiver<Failure, bool> {
 public:
  explicit Waiting(std::promise<Failure>& failure) : failure_(failure) {}
  void receive(Failure failure, bool) override { failure_.set_value(std::move(failure)); }
  void drop() noexcept override {
    failure_.set_exception(std::make_exception_ptr(std::logic_error("dropped without a result")));
  }

 private:
  std::promise<Failure>& failure_;
};

/// What reads the replies has not foreseen them.
class ReplyThatCannotBeRead : public Faults {
 protected:
  template <class Thrown>
  static face::Question<bool> question(Thrown thrown) {
    return {"orders", {{{"PING"}}}, [thrown](const std::vector<base::Reply>&) -> bool { throw thrown; }};
  }
  template <class Thrown>
  Failure failure_of(Thrown thrown) {
    const auto core = engine::Core::make(config(), nullptr);
    std::promise<Failure> told;
    Waiting waiting(told);
    const detail::OperationPtr operation =
        face::make_ask<bool>(core->shared_runtime(), question(thrown), detail::ReceiverPtr<Failure, bool>(&waiting));
    operation->start();
    Failure failure = told.get_future().get();
    engine::close_and_wait(core);
    return failure;
  }
};

TEST_F(ReplyThatCannotBeRead, IsAnErrorForWhoWaitsForTheAnswer) {
  const auto core = engine::Core::make(config(), nullptr);
  EXPECT_THAT(error_of([&] { return face::ask(core->runtime(), question(std::out_of_range("too short"))); }),
              IsError(Errc::server_error, "orders", core->runtime().node(), HasSubstr("makes no sense: too short")));
  EXPECT_THAT(error_of([&] { return face::ask(core->runtime(), question(Error(Errc::busy, "a", "b", "c"))); }),
              IsError(Errc::busy, "a", "b", "c"));
  engine::close_and_wait(core);
}

TEST_F(ReplyThatCannotBeRead, CompletesAnAsynchronousQuestionWithAnError) {
  EXPECT_THAT(failure_of(std::out_of_range("too short")).what(), HasSubstr("its reply makes no sense: too short"));
  EXPECT_EQ(failure_of(7).code(), code(Errc::server_error)) << "no exception of the standard's";
  EXPECT_EQ(failure_of(std::bad_alloc()).code(), code(Errc::exhausted));
  EXPECT_EQ(failure_of(Error(Errc::busy, "a", "b", "c")).code(), code(Errc::busy));
}

}  // namespace
}  // namespace holdfast::test::listing_test
