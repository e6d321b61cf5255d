#include "cli/http_endpoint.hpp"

#include <chrono>
#include <system_error>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace holdfast::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kLimit{10};  // for a request, and for an answer
constexpr std::chrono::seconds kIdle{60};   // between two requests on one connection
constexpr std::uint32_t kLongestHeader = 8192;
constexpr std::size_t kMostConnections = 64;
constexpr std::chrono::milliseconds kPause{100};  // while no descriptor is available

std::system_error as_std(const boost::system::system_error& error) { return {error.code(), error.what()}; }

}  // namespace

struct HttpEndpoint::Impl {
  explicit Impl(Handler its_handler) : handler(std::move(its_handler)) {}

  using Request = http::request<http::empty_body>;
  using Response = http::response<http::string_body>;

  Response answer(const Request& request) const {
    Answer answer;
    const bool known = request.method() == http::verb::get || request.method() == http::verb::head;
    const std::string_view target = request.target();
    const std::string_view accept = request[http::field::accept];
    answer =
        known ? handler(target.substr(0, target.find('?')), accept) : Answer{405, kPlainText, "only GET and HEAD\n"};
    Response response(static_cast<http::status>(answer.status), request.version());
    if (!known) response.set(http::field::allow, "GET, HEAD");
    response.set(http::field::content_type, answer.type);
    response.keep_alive(request.keep_alive());
    const std::size_t length = answer.body.size();
    if (request.method() != http::verb::head) response.body() = std::move(answer.body);
    response.content_length(length);
    return response;
  }

  asio::awaitable<void> serve(beast::tcp_stream stream) {
    beast::flat_buffer buffer;
    for (bool first = true, more = true; more; first = false) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(kLongestHeader);
      stream.expires_after(first ? kLimit : kIdle);
      co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
      const Response response = answer(parser.get());
      stream.expires_after(kLimit);
      co_await http::async_write(stream, response, asio::use_awaitable);
      more = response.keep_alive();
    }
    stream.socket().shutdown(tcp::socket::shutdown_send);
  }

  /// An error ends only this connection.
  asio::awaitable<void> attend(beast::tcp_stream stream) {
    try {
      co_await serve(std::move(stream));
    } catch (const std::exception&) {
      // Closed, too slow, or not HTTP.
    }
    --connections;
  }

  asio::awaitable<void> accept() {
    for (;;) {
      boost::system::error_code error;
      tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) {
        asio::steady_timer pause(context, kPause);
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      if (connections >= kMostConnections) continue;
      ++connections;
      asio::co_spawn(context, attend(beast::tcp_stream(std::move(socket))), asio::detached);
    }
  }

  const Handler handler;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  std::size_t connections = 0;
};

HttpEndpoint::HttpEndpoint(const std::string& host, std::uint16_t port, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(handler))) {
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(host), port);
    impl_->acceptor.open(endpoint.protocol());
    impl_->acceptor.set_option(tcp::acceptor::reuse_address(true));
    impl_->acceptor.bind(endpoint);
    impl_->acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw as_std(error);
  }
  asio::co_spawn(impl_->context, impl_->accept(), asio::detached);
}

HttpEndpoint::~HttpEndpoint() = default;

std::uint16_t HttpEndpoint::port() const { return impl_->acceptor.local_endpoint().port(); }

void HttpEndpoint::run() { impl_->context.run(); }

}  // namespace holdfast::cli
