// SPDX-License-Identifier: Apache-2.0
// Servers that say too much or nonsense, and callers that ask for too much: everything has a limit.
#include <cstdio>
#include <fstream>
#include <future>
#include <memory>
#include <unistd.h>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "faults.hpp"
#include "redis/connection/lane.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::bounds_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Lt;

/// Bytes of memory that this process uses; none under a sanitizer, which needs more for itself.
std::size_t memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

Config strict(const Stranger& stranger) {
  Config settings = quick_config(stranger.url());
  settings.timing.connect_timeout = 1000ms;
  settings.timing.command_timeout = 10s;
  return settings;
}

/// HELLO's answer, as far as it matters.
const std::string kHello = "%1\r\n+id\r\n:1\r\n";
constexpr std::size_t kLittle = 50U << 20U;

// --- at the login ---

struct Flood {
  std::string label, first, rest, said;
};
void PrintTo(const Flood& flood, std::ostream* out) { *out << flood.label; }

class AtTheLogin : public testing::TestWithParam<Flood> {};
const std::string kX(1U << 16U, 'x');
const Flood kFloods[] = {
    {"AnAnnouncedBulk", "$60000000000\r\n", kX, "announces 60000000000 bytes, more than"},
    {"AnAnnouncedArray", "*1000000000\r\n", ":1\r\n:1\r\n", "announces 1000000000 elements, more than"},
    {"ALineWithoutEnd", "+", kX, "is longer than"},
    {"Letters", "", kX, "does not speak the Redis protocol"},
    {"Depth", "", "*1\r\n", "nested deeper than"},
    {"Pushes", "", ">2\r\n+a\r\n+b\r\n", "no answer to the login within 1000 ms"},
};
INSTANTIATE_TEST_SUITE_P(Server, AtTheLogin, testing::ValuesIn(kFloods), [](const auto& i) { return i.param.label; });

TEST_P(AtTheLogin, AServerThatSendsWithoutEndIsLeftInTime) {
  const Stranger stranger(GetParam().first, Stranger::Manner::without_end, GetParam().rest);
  const std::size_t before = memory();
  Client client(strict(stranger));
  const Timed ping = timed_error_of([&] { client.ping(); });
  ASSERT_TRUE(ping.error);
  EXPECT_THAT(ping.error->cause(), HasSubstr(GetParam().said));
  EXPECT_LT(ping.took, 5s);
  EXPECT_LT(memory(), before + kLittle);
}

TEST(Stranger, ThatSpeaksAnotherProtocolIsToldByItsWords) {
  const Stranger stranger("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", Stranger::Manner::hangs_up);
  Client client(strict(stranger));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::unsupported_by_server, "orders", client.node(),
                      "the server does not speak the Redis protocol: its answer begins with "
                      "\"HTTP/1.1 400 Bad Request\""));
}

TEST(Stranger, ThatHangsUpIsSaidTo) {
  const Stranger stranger("", Stranger::Manner::hangs_up);
  Client client(strict(stranger));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::unreachable, "orders", client.node(), HasSubstr("the server closed the connection")));
}

// --- after it ---

struct Later {
  std::string label, rest, said;
};
void PrintTo(const Later& later, std::ostream* out) { *out << later.label; }

class AfterTheLogin : public testing::TestWithParam<Later> {};
const Later kLater[] = {
    {"AnAnnouncedBulk", "$60000000000\r\n" + kX, "announces 60000000000 bytes, more than"},
    {"AnAnnouncedArray", ">1000000000\r\n", "announces 1000000000 elements, more than"},
    {"AnUnaskedReply", "+x\r\n", "a reply that nobody asked for"},
};
INSTANTIATE_TEST_SUITE_P(Server, AfterTheLogin, testing::ValuesIn(kLater), [](const auto& i) { return i.param.label; });

TEST_P(AfterTheLogin, AServerThatSendsTooMuchIsLeft) {
  const Stranger stranger(kHello, Stranger::Manner::without_end, GetParam().rest);
  const std::size_t before = memory();
  const auto log = std::make_shared<EventLog>();
  Config settings = strict(stranger);
  settings.observer = log;
  const Client client(settings);
  ASSERT_TRUE(log->wait_for("down", 3));
  EXPECT_THAT(log->details("down"), testing::Contains(HasSubstr(GetParam().said)));
  EXPECT_LT(memory(), before + kLittle);
}

TEST(Stranger, MessagesWithoutEndLeaveNothingBehindAndHoldNobodyUp) {
  std::string messages;
  for (int i = 0; i < 400'000; ++i) {
    messages += ">3\r\n+subscribe\r\n+a channel that nobody has asked for " + std::to_string(i) + "\r\n:1\r\n";
  }
  const Stranger stranger(kHello, Stranger::Manner::without_end, std::move(messages));
  Config settings = strict(stranger);
  settings.timing.command_timeout = 3s;
  const std::size_t before = memory();
  Client client(settings);
  const Timed ping = timed_error_of([&] { client.ping(); });
  EXPECT_THAT(ping.error, IsError(Errc::unknown_outcome, "", client.node(), testing::Not("")));
  EXPECT_LT(ping.took, 10s);
  EXPECT_LT(memory(), before + 2 * kLittle) << "what the stranger is about to say is a third of it";
  EXPECT_LT(duration_of([&] { client.close(); }), 10s);
}

TEST(Replies, OfSomeMegabytesAreTaken) {
  RedisServer server;
  Config settings = quick_config(server.url());
  settings.timing.command_timeout = 1min;
  settings.lease = 5min;
  Client client(settings);
  const std::string name(2U << 20U, 'n');
  const Hold hold = client.lock(name).acquire();
  ASSERT_EQ(client.list().size(), 1U);
  EXPECT_EQ(client.list().front().name, name);
}

// --- callers ---

TEST(Callers, AreRefusedWhenTheServerDoesNotTakeWhatIsToBeSent) {
  RedisServer server;
  Config settings = quick_config(server.url());
  settings.timing.command_timeout = 1min;
  settings.lease = 5min;
  Client client(settings);
  ASSERT_TRUE(eventually([&] { return !error_of([&] { client.ping(); }); }));
  const std::size_t before = memory();
  server.freeze();
  const std::string name(4U << 20U, 'n');
  std::vector<std::future<std::optional<Error>>> calls;
  const auto call = [&] { return error_of([&] { return client.lock(name).is_locked(); }); };
  constexpr std::size_t kCalls = 20;
  for (std::size_t i = 0; i < kCalls; ++i) calls.push_back(std::async(std::launch::async, call));
  const auto refused = [](const auto& it) { return it.wait_for(0s) == std::future_status::ready; };
  const auto one_is_refused = [&] { return std::ranges::any_of(calls, refused); };
  EXPECT_TRUE(eventually(one_is_refused));
  EXPECT_LT(memory(), before + kCalls * 10 * name.size()) << "each call has its name, and the command, some times over";
  server.thaw();
  std::size_t served = 0;
  for (auto& each : calls) {
    if (const std::optional<Error> error = each.get()) {
      EXPECT_THAT(error, IsError(Errc::unreachable, name, client.node(), HasSubstr("bytes that wait for it")));
    } else {
      ++served;
    }
  }
  EXPECT_THAT(served, AllOf(testing::Ge(16), Lt(kCalls))) << "64 MiB wait, and what is accepted is sent";
}

TEST(Callers, AreRefusedWhenTooManyWait) {
  boost::asio::io_context context;
  timing::Schedule schedule(context.get_executor());
  redis::Subscriptions subscriptions(std::make_shared<redis::Listeners>());
  struct Nobody final : redis::LaneEvents {
  } nobody;
  redis::Lane lane(schedule, Config(), std::make_shared<redis::ConfiguredEndpoint>(Config()), subscriptions, nobody);
  int refused = 0;
  redis::Result last;
  const auto ask = [&] {
    lane.send(redis::Request::of({{"PING"}}, 1min), [&](redis::Result result) {
      ++refused;
      last = std::move(result);
    });
  };
  for (int i = 0; i < 262'144; ++i) ask();
  EXPECT_EQ(refused, 0);
  ask();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(last.delivery, redis::Delivery::not_sent);
  EXPECT_EQ(last.cause, "262144 commands wait for the server already");
  EXPECT_FALSE(last.pointless);
  lane.close();
  EXPECT_EQ(refused, 262'145);
}

}  // namespace
}  // namespace holdfast::test::bounds_test
