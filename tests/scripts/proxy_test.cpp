// SPDX-License-Identifier: Apache-2.0
// The fault proxy that the suites put between a client and a server: each fault does what it says, no more.
#include "support/proxy.hpp"

#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::proxy_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProxyTest : public testing::Test {
 protected:
  Raw through(milliseconds timeout = seconds(30)) {
    return Raw(Endpoint{.host = "127.0.0.1", .port = proxy.port()}, timeout);
  }
  std::string value() { return direct.command("GET", "key").text; }

  RedisServer server;
  Proxy proxy{server};
  Raw direct{server};
};

TEST_F(ProxyTest, forwards_any_bytes_and_counts_connections) {
  EXPECT_EQ(proxy.url(), "redis://127.0.0.1:" + std::to_string(proxy.port()));
  EXPECT_EQ(proxy.accepted(), 0U);
  {
    Raw raw = through();
    std::string big(3'000'000, 'x');
    big[1'000'000] = '\0';
    EXPECT_EQ(raw.command("SET", "key", big).text, "OK");
    EXPECT_EQ(raw.command("GET", "key").text, big);
    EXPECT_EQ(proxy.connected(), 1U);
  }
  EXPECT_TRUE(eventually([&] { return proxy.connected() == 0; }));
  through().command("PING");
  EXPECT_EQ(proxy.accepted(), 2U);
}

TEST_F(ProxyTest, cut_closes_what_is_open_and_lets_new_connections_in) {
  Raw raw = through();
  raw.command("PING");
  proxy.cut();
  EXPECT_EQ(raw.command("PING").text, "PONG");
  EXPECT_EQ(proxy.accepted(), 2U);
}

TEST_F(ProxyTest, cut_after_a_request_lets_the_server_execute_it_and_withholds_the_reply) {
  Raw raw = through();
  proxy.cut_after_next_request("key");
  EXPECT_EQ(raw.command("INCR", "other").integer, 1);
  EXPECT_EQ(proxy.fired(), 0U);
  EXPECT_THROW(raw.command("INCR", "key"), std::runtime_error);
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_EQ(value(), "1");
  EXPECT_EQ(raw.command("INCR", "key").integer, 2) << "one shot only";
}

TEST_F(ProxyTest, a_held_request_arrives_late_on_its_old_connection) {
  Raw raw = through();
  EXPECT_FALSE(proxy.deliver_held());
  proxy.hold_next_request("key");
  EXPECT_THROW(raw.command("SET", "key", "late"), std::runtime_error);
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_FALSE(direct.exists("key"));
  EXPECT_EQ(raw.command("SET", "key", "early").text, "OK");
  proxy.cut();
  EXPECT_TRUE(proxy.deliver_held());
  EXPECT_EQ(value(), "late");
  EXPECT_FALSE(proxy.deliver_held()) << "there is nothing left";
}

TEST_F(ProxyTest, a_held_request_cannot_arrive_once_its_connection_was_killed) {
  Raw raw = through();
  const long long id = raw.command("CLIENT", "ID").integer;
  proxy.hold_next_request("key");
  EXPECT_THROW(raw.command("SET", "key", "late"), std::runtime_error);
  EXPECT_EQ(direct.command("CLIENT", "KILL", "ID", id).integer, 1);
  EXPECT_FALSE(proxy.deliver_held());
  EXPECT_FALSE(direct.exists("key"));
}

TEST_F(ProxyTest, dropped_requests_never_arrive_and_their_connection_ends_with_the_fault) {
  Raw raw = through(milliseconds(200));
  raw.command("PING");
  proxy.drop_requests(true);
  EXPECT_THROW(raw.command("SET", "key", "x"), std::runtime_error);
  proxy.drop_requests(false);
  EXPECT_TRUE(eventually([&] { return proxy.connected() == 0; }));
  EXPECT_FALSE(direct.exists("key"));
}

TEST_F(ProxyTest, dropped_replies_leave_the_request_executed) {
  Raw patient = through();
  Raw raw = through(milliseconds(200));
  proxy.drop_replies(true);
  EXPECT_THROW(raw.command("SET", "key", "x"), std::runtime_error);
  EXPECT_TRUE(eventually([&] { return value() == "x"; }));
  proxy.drop_replies(false);
  EXPECT_EQ(patient.command("PING").text, "PONG");
  EXPECT_EQ(proxy.accepted(), 2U) << "a connection that lost nothing stays";
}

TEST_F(ProxyTest, a_delay_holds_up_the_direction_it_is_set_for) {
  Raw raw = through();
  raw.command("PING");
  const auto took = [&] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(raw.command("PING").text, "PONG");
    return std::chrono::steady_clock::now() - start;
  };
  proxy.delay(Proxy::Direction::to_server, milliseconds(100));
  EXPECT_GE(took(), milliseconds(100));
  proxy.delay(Proxy::Direction::to_client, milliseconds(100));
  EXPECT_GE(took(), milliseconds(200));
  proxy.delay(Proxy::Direction::to_server, milliseconds(0));
  proxy.delay(Proxy::Direction::to_client, milliseconds(0));
  EXPECT_TRUE(eventually([&] { return took() < milliseconds(100); }));
}

TEST_F(ProxyTest, a_request_under_way_arrives_after_its_client_is_gone) {
  {
    Raw raw = through(milliseconds(500));
    raw.command("PING");
    proxy.delay(Proxy::Direction::to_server, seconds(2));
    EXPECT_THROW(raw.command("SET", "key", "x"), std::runtime_error);
    EXPECT_FALSE(direct.exists("key"));
  }
  EXPECT_TRUE(eventually([&] { return value() == "x"; }));
  EXPECT_TRUE(eventually([&] { return proxy.connected() == 0; }));
}

TEST_F(ProxyTest, refusing_keeps_new_connections_out_and_the_open_ones) {
  Raw raw = through();
  proxy.refuse(true);
  EXPECT_THROW(through(), std::runtime_error);
  EXPECT_EQ(raw.command("PING").text, "PONG");
  proxy.refuse(false);
  EXPECT_EQ(through().command("PING").text, "PONG");
}

TEST_F(ProxyTest, a_server_that_goes_and_comes_back_shows_as_closed_connections) {
  Raw raw = through();
  raw.command("PING");
  server.kill();
  EXPECT_TRUE(eventually([&] { return proxy.connected() == 0; }));
  EXPECT_THROW(through().command("PING"), std::runtime_error);
  server.restart(Data::lose);
  EXPECT_EQ(raw.command("PING").text, "PONG");
}

TEST(ProxyListening, works_on_a_unix_socket_and_in_front_of_tls) {
  const RedisServer tls({.listen = ServerOptions::Listen::tls});
  const Proxy on_socket(tls, Proxy::Listen::unix_socket);
  EXPECT_EQ(on_socket.url(), "unix://" + on_socket.socket_path());
  EXPECT_EQ(on_socket.port(), 0);

  Proxy proxy(tls);
  EXPECT_THAT(proxy.url(), testing::StartsWith("rediss://localhost:" + std::to_string(proxy.port()) + "?ca_file="));
  // By address: looking up a name may ask a server far away, which may be slow.
  Process client("openssl", {"s_client", "-quiet", "-verify_return_error", "-verify_hostname", "localhost", "-CAfile",
                             tls.certificates().ca_file, "-connect", "127.0.0.1:" + std::to_string(proxy.port())});
  client.write_line("PING\r");
  EXPECT_EQ(client.read_line(), "+PONG\r") << client.errors() << tls.log();
  proxy.cut();
  EXPECT_NE(client.wait(), std::nullopt) << client.errors();

  const RedisServer plain;
  const Proxy socket(plain, Proxy::Listen::unix_socket);
  EXPECT_EQ(Raw(Endpoint{.socket_path = socket.socket_path()}).command("PING").text, "PONG");
}

}  // namespace
}  // namespace holdfast::test::proxy_test
