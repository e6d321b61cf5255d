#include "cli/http_endpoint.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <list>
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

constexpr std::chrono::seconds kLimit{10};    // for a request, and for an answer
constexpr std::chrono::seconds kIdle{60};     // between two requests on one connection
constexpr std::chrono::seconds kFarewell{1};  // for what comes behind the last answer
constexpr std::uint32_t kLongestHeader = 8192;
constexpr std::size_t kMostConnections = 64;
constexpr std::chrono::milliseconds kPause{100};  // while no descriptor is available

/// The path of a target, which may be a whole URL, as proxies ask.
std::string_view path_of(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == target.npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == target.npos ? "/" : target.substr(path);
}

/// The status for what is not a request; 0: the connection has ended, or nothing came in time.
unsigned refusal_of(const beast::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

/// The same for a request: each names its host from HTTP/1.1 on, for it is a request to one of several.
template <class Request>
unsigned fault_of(const Request& request) {
  const auto hosts = request.equal_range(http::field::host);
  const auto count = std::distance(hosts.first, hosts.second);
  return count > 1 || (count == 0 && request.version() >= 11) ? 400 : 0;
}

std::system_error as_std(const boost::system::system_error& error) { return {error.code(), error.what()}; }

}  // namespace

struct HttpEndpoint::Impl {
  explicit Impl(Handler its_handler) : handler(std::move(its_handler)) {}

  using Request = http::request<http::empty_body>;
  using Response = http::response<http::string_body>;
  using Stream = beast::tcp_stream;

  Response answer(const Request& request) const {
    Answer answer;
    const bool known = request.method() == http::verb::get || request.method() == http::verb::head;
    const std::string_view target = request.target();
    const std::string_view accept = request[http::field::accept];
    answer = known ? handler(path_of(target), accept) : Answer{405, kPlainText, "only GET and HEAD\n"};
    Response response(static_cast<http::status>(answer.status), request.version());
    if (!known) response.set(http::field::allow, "GET, HEAD");
    response.set(http::field::content_type, answer.type);
    response.keep_alive(request.keep_alive());
    const std::size_t length = answer.body.size();
    if (request.method() != http::verb::head) response.body() = std::move(answer.body);
    response.content_length(length);
    return response;
  }

  static Response refused(unsigned status) {
    Response response(static_cast<http::status>(status), 11);
    response.set(http::field::content_type, kPlainText);
    response.keep_alive(false);
    response.body() = status == 431 ? "the header is too long\n" : "not an HTTP request\n";
    response.prepare_payload();
    return response;
  }

  /// As long as it lives, a connection waits for its client, and may have to make room for another one.
  class Wait {
   public:
    Wait(Impl& endpoint, Stream& stream)
        : endpoint_(endpoint), stream_(stream), place_(endpoint.waiting.insert(endpoint.waiting.end(), this)) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      if (!over_) endpoint_.waiting.erase(place_);
    }
    bool over() const { return over_; }
    void end() {
      over_ = true;
      endpoint_.waiting.erase(place_);
      stream_.cancel();
    }

   private:
    Impl& endpoint_;
    Stream& stream_;
    const std::list<Wait*>::iterator place_;
    bool over_ = false;
  };

  asio::awaitable<void> serve(Stream& stream) {
    beast::flat_buffer buffer;
    for (bool first = true, more = true; more; first = false) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(kLongestHeader);
      stream.expires_after(first ? kLimit : kIdle);
      beast::error_code error;
      {
        const Wait wait(*this, stream);
        co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, error));
        if (wait.over()) co_return;
      }
      const unsigned refusal = error ? refusal_of(error) : fault_of(parser.get());
      if (error && refusal == 0) co_return;  // closed, or too slow
      const Response response = refusal == 0 ? answer(parser.get()) : refused(refusal);
      stream.expires_after(kLimit);
      co_await http::async_write(stream, response, asio::use_awaitable);
      more = response.keep_alive();
    }
    stream.socket().shutdown(tcp::socket::shutdown_send);
    co_await take_rest(stream);
  }

  /// What else it sends: closing while something is unread would take the answer back.
  asio::awaitable<void> take_rest(Stream& stream) {
    const Wait wait(*this, stream);
    std::array<char, 4096> rest{};
    stream.expires_after(kFarewell);
    for (std::size_t taken = 0; taken < std::size_t{8} * kLongestHeader;) {
      taken += co_await stream.async_read_some(asio::buffer(rest), asio::use_awaitable);
    }
  }

  /// An error ends only this connection.
  asio::awaitable<void> attend(Stream stream) {
    try {
      co_await serve(stream);
    } catch (const std::exception&) {
      // Closed or too slow.
    }
    --connections;
  }

  /// False: all are busy with an answer. Otherwise the one that has waited longest for a request is closed, if there
  /// are too many.
  bool make_room() {
    if (connections < kMostConnections) return true;
    if (waiting.empty()) return false;
    waiting.front()->end();
    return true;
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
      if (!make_room()) continue;
      ++connections;
      asio::co_spawn(context, attend(Stream(std::move(socket))), asio::detached);
    }
  }

  const Handler handler;
  std::size_t connections = 0;
  std::list<Wait*> waiting;  // the longest first; outlives those in it, which end with the context
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
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
