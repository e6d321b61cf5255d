// SPDX-License-Identifier: Apache-2.0
// A program that uses the system's Boost.Asio by itself, and Holdfast's plain API: their versions must not meet.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/version.hpp>

#include <holdfast/holdfast.hpp>

namespace asio = boost::asio;

int main() {
  const char* url = std::getenv("HOLDFAST_URL");
  if (url == nullptr) return 2;
  asio::io_context context;
  holdfast::Client client{url};
  holdfast::Lock lock = client.lock("consumer");

  // A connection of its own, a timer and posted work, with Holdfast's loop at work on its thread.
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket near_end(context), far_end(context);
  int done = 0;
  acceptor.async_accept(far_end, [&](const boost::system::error_code& error) { done += !error; });
  near_end.async_connect(acceptor.local_endpoint(), [&](const boost::system::error_code& error) { done += !error; });
  asio::steady_timer timer(context, std::chrono::milliseconds(20));
  timer.async_wait([&](const boost::system::error_code& error) { done += !error; });
  asio::post(context, [&] {
    holdfast::Hold hold = lock.acquire();
    done += hold.release() == holdfast::ReleaseOutcome::released;
  });
  context.run();
  std::printf("Boost %d, %d of 4 done\n", BOOST_VERSION, done);
  return done == 4 ? 0 : 1;
}
