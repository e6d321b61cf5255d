// SPDX-License-Identifier: Apache-2.0
// Addresses as messages name them.
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>

#include "redis/connection/resolver.hpp"

namespace holdfast::redis::endpoint_text_test {
namespace {

namespace asio = boost::asio;

TEST(EndpointText, HasAllOfThePathOfAUnixSocket) {
  EXPECT_EQ(to_string(Endpoint(asio::local::stream_protocol::endpoint("/run/redis.sock"))), "/run/redis.sock");
}

TEST(EndpointText, HasAddressAndPort) {
  EXPECT_EQ(to_string(Endpoint(asio::ip::tcp::endpoint(asio::ip::make_address("10.0.0.7"), 6379))), "10.0.0.7:6379");
  EXPECT_EQ(to_string(Endpoint(asio::ip::tcp::endpoint(asio::ip::make_address("::1"), 6380))), "[::1]:6380");
}

}  // namespace
}  // namespace holdfast::redis::endpoint_text_test
