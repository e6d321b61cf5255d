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
