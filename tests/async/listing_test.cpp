// SPDX-License-Identifier: Apache-2.0
// async_list() of a server that replies what it was not asked for, and with a prefix that is a pattern to the server.
#include "async.hpp"
#include "support/held_lock.hpp"
#include "support/made_up_node.hpp"

namespace holdfast::test::listing_test {
namespace {

class AsyncList : public Async {
 protected:
  std::vector<std::string> listed(const Config& settings) {
    Client client = make_client(settings);
    std::vector<std::string> names;
    run([&]() -> awaitable<void> {
      for (const LockInfo& each : co_await client.async_list()) names.push_back(each.name);
    }());
    return names;
  }
};

TEST_F(AsyncList, CompletesWithAPrefixThatIsAPatternToTheServer) {
  put_held_lock(raw, "a:");
  put_held_lock(raw, "a*:mine");
  put_held_lock(raw, "another:mine");
  Config settings = config();
  settings.name_prefix = "a*:";
  EXPECT_THAT(listed(settings), testing::ElementsAre("mine"));
}

TEST_F(AsyncList, FindsOtherKindsToo) {
  Config settings = config();
  settings.name_prefix = "app:";
  Client client = make_client(settings);
  raw.command("SET", "number", 7);
  raw.command("SET", "app:text", "hello");
  const auto names = [](const std::vector<LockInfo>& found) {
    std::vector<std::string> all;
    for (const LockInfo& each : found) all.push_back(each.name);
    return all;
  };
  run([&]() -> awaitable<void> {
    const Hold reader = co_await client.read_write_lock("table").reader().async_acquire(use_awaitable);
    co_await client.leased_semaphore("gpus").async_init(2, use_awaitable);
    const Hold permit = co_await client.leased_semaphore("gpus").async_acquire(use_awaitable);
    const Hold simple = co_await client.simple_lock("simple").async_acquire(use_awaitable);
    co_await client.latch("ready").async_init(3, use_awaitable);
    const auto tables = co_await client.async_list("*", InfoDetail::holder, KeyForm::read_write_locks, use_awaitable);
    EXPECT_THAT(names(tables), testing::ElementsAre("table"));
    EXPECT_EQ(tables.front().holders.front().mode, LockHolder::Mode::shared);
    EXPECT_EQ(tables.front().owner, reader.owner());
    const auto gpus = co_await client.async_list("*", InfoDetail::owner, KeyForm::leased_semaphores, use_awaitable);
    EXPECT_THAT(names(gpus), testing::ElementsAre("gpus"));
    EXPECT_EQ(gpus.front().owner, permit.owner());
    EXPECT_EQ(gpus.front().available, 1);
    EXPECT_THAT(names(co_await client.async_list("*", InfoDetail::holder, KeyForm::simple_locks, use_awaitable)),
                testing::ElementsAre("simple"));
    const auto numbers = co_await client.async_list("*", InfoDetail::holder, KeyForm::latches, use_awaitable);
    EXPECT_THAT(names(numbers), testing::UnorderedElementsAre("gpus", "ready"));
    EXPECT_THAT(names(co_await client.async_list("*", InfoDetail::owner, use_awaitable)), testing::IsEmpty());
  }());
}

TEST_F(AsyncList, CompletesWhateverTheServerHasFound) {
  MadeUpNode liar([](const MadeUpNode::Command& command) {
    if (command.front() == "SCAN") return "*2\r\n" + as_bulk("0") + as_array({as_bulk("a"), as_bulk("app:mine")});
    if (command.front() == "HLEN") return as_number(1);
    if (command.front() == "HGETALL") return as_array({as_bulk(kSomebodyElse), as_bulk("1")});
    if (command.front() == "PTTL") return as_number(1000);
    return std::string("+OK\r\n");
  });
  Config settings = config("redis://" + liar.address());
  settings.name_prefix = "app:";
  EXPECT_THAT(listed(settings), testing::ElementsAre("mine"));
}

}  // namespace
}  // namespace holdfast::test::listing_test
