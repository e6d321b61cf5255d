// SPDX-License-Identifier: Apache-2.0
// One thread, one io_context: HTTP by Boost.Beast and the locks of Holdfast run on the same loop, and a request that
// waits for its lock costs a coroutine, not a thread.
#include "http_locks/service.hpp"

#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <set>
#include <signal.h>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <holdfast/async.hpp>
#include <holdfast/fence.hpp>

#include "http_locks/counter_files.hpp"
#include "http_locks/fencing.hpp"

namespace http_locks {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using holdfast::Errc;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr auto kLongestWait = 1s;  // for a lock; then the client is told to come again
constexpr auto kLease = 5s;        // so long a counter stays locked when an instance dies with it
constexpr auto kLongestWork = 60s;
constexpr auto kIdle = 30s;   // of a client that sends nothing, or takes nothing
constexpr auto kDrain = 10s;  // for requests under way when the service is to stop

constexpr std::string_view kDocuments = "/documents/";

constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

/// Ends when the client has closed its end, or is gone. One that has already sent its next request cannot be watched.
asio::awaitable<void> client_left(tcp::socket& socket) {
  co_await socket.async_wait(tcp::socket::wait_read, asio::use_awaitable);
  char byte = 0;
  boost::system::error_code error;
  socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
  if (error && error != asio::error::would_block) co_return;
  asio::steady_timer never(socket.get_executor(), asio::steady_timer::time_point::max());
  co_await never.async_wait(asio::use_awaitable);
}

/// Counts something for as long as it lives.
class Gauge {
 public:
  explicit Gauge(int& value) : value_(++value) {}
  Gauge(const Gauge&) = delete;
  Gauge& operator=(const Gauge&) = delete;
  ~Gauge() { --value_; }

 private:
  int& value_;
};

Response text(http::status status, std::string_view body) {
  Response response{status, 11};
  response.set(http::field::content_type, "text/plain");
  response.body() = body;
  response.body() += '\n';
  return response;
}

Response come_again(std::string_view body) {
  Response response = text(http::status::service_unavailable, body);
  response.set(http::field::retry_after, "1");
  return response;
}

/// What the client hears when there was no lock, or no more.
Response refusal(const holdfast::Error& error, bool written) {
  if (error.code() == Errc::timed_out) return come_again("others are busy with this counter");
  if (error.code() != Errc::cancelled) std::cerr << error.what() << std::endl;
  if (written) return text(http::status::internal_server_error, "the lock was lost; this may count or not");
  if (error.code() == Errc::lost) return come_again("the lock was lost; nothing was changed");
  return come_again("no lock to be had; nothing was changed");
}

/// A key becomes a file's name and a lock's.
bool is_key(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.size() <= 64 && text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<std::chrono::milliseconds> read_work(std::string_view query) {
  constexpr std::string_view name = "work=";
  if (query.empty()) return 0ms;
  if (!query.starts_with(name)) return {};
  query.remove_prefix(name.size());
  int value = 0;
  const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), value);
  if (error != std::errc() || end != query.data() + query.size() || value < 0) return {};
  return std::chrono::milliseconds(value) <= kLongestWork ? std::optional(std::chrono::milliseconds(value))
                                                          : std::nullopt;
}

class Service {
 public:
  Service(asio::io_context& context, const Settings& settings)
      : client_(holdfast::client_on(context, settings.url)),
        files_(settings.folder),
        folder_(settings.folder),
        acceptor_(context, {asio::ip::address_v4::loopback(), settings.port}),
        all_gone_(context) {}

  asio::awaitable<void> run() {
    asio::signal_set signals(acceptor_.get_executor(), SIGINT, SIGTERM);
    std::cout << "listening on 127.0.0.1:" << acceptor_.local_endpoint().port() << std::endl;
    co_await (accept() || signals.async_wait(asio::use_awaitable));

    signals.clear();
    acceptor_.close();
    stopping_ = true;
    for (beast::tcp_stream* stream : idle_) stream->cancel();
    if (clients_ > 0) {
      all_gone_.expires_after(kDrain);
      co_await all_gone_.async_wait(no_throw);
    }
    co_await client_.async_close();  // who still waits for a lock is refused; holds are given back
  }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(no_throw);
      if (error) {
        co_await pause(100ms);  // out of descriptors, perhaps
      } else {
        asio::co_spawn(acceptor_.get_executor(), session(std::move(socket)), asio::detached);
      }
    }
  }

  asio::awaitable<void> session(tcp::socket socket) {
    ++clients_;
    try {
      beast::tcp_stream stream(std::move(socket));
      co_await talk(stream);
    } catch (const std::exception& error) {
      std::cerr << "a session failed: " << error.what() << std::endl;
    }
    if (--clients_ == 0) all_gone_.cancel();
  }

  asio::awaitable<void> talk(beast::tcp_stream& stream) {
    stream.socket().non_blocking(true);
    beast::flat_buffer buffer;
    bool more = true;
    while (more && !stopping_) {
      Request request;
      stream.expires_after(kIdle);
      idle_.insert(&stream);
      const auto [unread, received] = co_await http::async_read(stream, buffer, request, no_throw);
      idle_.erase(&stream);
      if (unread) co_return;
      stream.expires_never();

      // Whichever comes first ends the other: nobody works, or waits in line, for a client that has left.
      auto first = co_await (answer(request) || client_left(stream.socket()));
      if (first.index() == 1) {
        ++left_;
        co_return;
      }
      Response response = std::get<0>(std::move(first));
      more = request.keep_alive() && !stopping_;
      response.keep_alive(more);
      response.prepare_payload();
      stream.expires_after(kIdle);
      const auto [unsent, sent] = co_await http::async_write(stream, response, no_throw);
      if (unsent) co_return;
    }
    boost::system::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  asio::awaitable<Response> answer(const Request& request) {
    try {
      co_return co_await route(request);
    } catch (const std::exception& error) {
      std::cerr << error.what() << std::endl;
      co_return text(http::status::internal_server_error, "something went wrong here");
    }
  }

  asio::awaitable<Response> route(const Request& request) {
    constexpr std::string_view counters = "/counters/";
    std::string_view path(request.target().data(), request.target().size());
    const std::size_t mark = path.find('?');
    const auto work = read_work(mark == path.npos ? "" : path.substr(mark + 1));
    path = path.substr(0, mark);
    if (path == "/status" && request.method() == http::verb::get) co_return status();
    if (path.starts_with(kDocuments)) co_return document(request, path.substr(kDocuments.size()));
    if (!path.starts_with(counters)) co_return text(http::status::not_found, "there is no such resource");
    std::string key(path.substr(counters.size()));
    if (!is_key(key) || !work) co_return text(http::status::bad_request, "malformed key or query");
    if (request.method() == http::verb::post) co_return co_await add(std::move(key), *work);
    if (request.method() != http::verb::get) co_return text(http::status::method_not_allowed, "GET or POST");
    const std::optional<long> value = files_.read(key);
    if (!value) co_return text(http::status::not_found, "there is no such counter");
    co_return text(http::status::ok, std::to_string(*value));
  }

  /// Who has the lock of a document is the client's affair: it sends the token that it was granted with.
  Response document(const Request& request, std::string_view key) const {
    if (!is_key(key)) return text(http::status::bad_request, "malformed key");
    const holdfast::FencedFile file(folder_ / ("document." + std::string(key)));
    if (request.method() == http::verb::get) {
      const auto contents = file.read();
      return contents ? text(http::status::ok, contents->text) : text(http::status::not_found, "there is none");
    }
    if (request.method() != http::verb::put) return text(http::status::method_not_allowed, "GET or PUT");
    const http::status status =
        fenced(request, [&](std::int64_t token) { return file.replace(token, request.body()); });
    return status == http::status::no_content ? Response{status, 11} : text(status, http::obsolete_reason(status));
  }

  asio::awaitable<Response> add(std::string key, std::chrono::milliseconds work) {
    bool written = false;
    std::optional<Gauge> waiting(waiting_);
    const auto body = [&](holdfast::Hold& hold) -> asio::awaitable<long> {
      waiting.reset();
      const Gauge working(working_);
      const long value = files_.read(key).value_or(0) + 1;
      co_await pause(work);  // cancelled when the lock is lost, or the client leaves
      // The look before the step that matters; after a pause of the machine nobody was cancelled yet.
      hold.throw_if_lost();
      files_.write(key, value);
      written = true;
      co_return value;
    };
    try {
      holdfast::AcquireOptions options{.wait = kLongestWait, .lease = holdfast::renewed(kLease)};
      const long value = co_await holdfast::with_lock(client_.lock("counter:" + key), std::move(options), body);
      co_return text(http::status::ok, std::to_string(value));
    } catch (const holdfast::Error& error) {
      co_return refusal(error, written);
    }
  }

  Response status() const {
    const holdfast::Counters counters = client_.counters();
    std::ostringstream lines;
    lines << "waiting " << waiting_ << "\nworking " << working_ << "\nleft " << left_ << "\nlocks granted "
          << counters.granted << "\nlocks lost " << counters.lost;
    return text(http::status::ok, lines.str());
  }

  holdfast::Client client_;
  CounterFiles files_;
  const std::filesystem::path folder_;
  tcp::acceptor acceptor_;
  asio::steady_timer all_gone_;
  std::set<beast::tcp_stream*> idle_;  // between two requests
  bool stopping_ = false;
  int clients_ = 0;
  int waiting_ = 0;
  int working_ = 0;
  int left_ = 0;
};

}  // namespace

void serve(const Settings& settings) {
  asio::io_context context(1);
  Service service(context, settings);
  asio::co_spawn(context, service.run(), [](const std::exception_ptr& problem) {
    if (problem) std::rethrow_exception(problem);
  });
  context.run();
}

}  // namespace http_locks
