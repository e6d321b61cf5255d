// SPDX-License-Identifier: Apache-2.0
// `holdfast exporter`: the servers' locks, for Prometheus.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

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
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/server_watch.hpp"
#include "cli/signals.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kOpenmetricsText = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
constexpr std::size_t kMostShown = 500;           // locks of a server on the page
constexpr std::chrono::seconds kStuck{60};        // a look that takes so much longer than its interval

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

/// One thread serves all connections. A slow client does not delay others, and is disconnected after 10 s, an idle one
/// after a minute. There are 64 connections at a time: beyond that the one that has waited longest for a request is
/// closed, so that idle ones keep nobody out. What is no HTTP request is answered with 400.
class HttpEndpoint {
 public:
  struct Answer {
    unsigned status = 200;
    std::string type;
    std::string body;
  };
  /// `path`: without a query, and without the host that a proxy may put before it. `accept`: the request's Accept
  /// header. Must not block.
  using Handler = std::function<Answer(std::string_view path, std::string_view accept)>;

  /// Listens from here on; port 0: any free one. Throws std::system_error, also if the host is not an address.
  HttpEndpoint(const std::string& host, std::uint16_t port, Handler its_handler) : handler_(std::move(its_handler)) {
    try {
      const tcp::endpoint endpoint(asio::ip::make_address(host), port);
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw as_std(error);
    }
    asio::co_spawn(context_, accept(), asio::detached);
  }
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Serves, in the calling thread, until the process ends.
  void run() { context_.run(); }

 private:
  using Request = http::request<http::empty_body>;
  using Response = http::response<http::string_body>;
  using Stream = beast::tcp_stream;

  Response answer(const Request& request) const {
    Answer answer;
    const bool known = request.method() == http::verb::get || request.method() == http::verb::head;
    const std::string_view target = request.target();
    const std::string_view accept = request[http::field::accept];
    answer = known ? handler_(path_of(target), accept) : Answer{405, kPlainText, "only GET and HEAD\n"};
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
    Wait(HttpEndpoint& endpoint, Stream& stream)
        : endpoint_(endpoint), stream_(stream), place_(endpoint.waiting_.insert(endpoint.waiting_.end(), this)) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      if (!over_) endpoint_.waiting_.erase(place_);
    }
    bool over() const { return over_; }
    void end() {
      over_ = true;
      endpoint_.waiting_.erase(place_);
      stream_.cancel();
    }

   private:
    HttpEndpoint& endpoint_;
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
    --connections_;
  }

  /// False: all are busy with an answer. Otherwise the one that has waited longest for a request is closed, if there
  /// are too many.
  bool make_room() {
    if (connections_ < kMostConnections) return true;
    if (waiting_.empty()) return false;
    waiting_.front()->end();
    return true;
  }

  asio::awaitable<void> accept() {
    for (;;) {
      boost::system::error_code error;
      tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) {
        asio::steady_timer pause(context_, kPause);
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      if (!make_room()) continue;
      ++connections_;
      asio::co_spawn(context_, attend(Stream(std::move(socket))), asio::detached);
    }
  }

  const Handler handler_;
  std::size_t connections_ = 0;
  std::list<Wait*> waiting_;  // the longest first; outlives those in it, which end with the context
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
};

HttpEndpoint::Answer metrics_answer(const ServerWatches& watches, std::string_view accept) {
  const Metrics metrics = metrics_of(seen_by(watches));
  std::ostringstream text;
  if (accept.find("application/openmetrics-text") != accept.npos) {
    metrics.write_openmetrics(text);
    return {200, kOpenmetricsText, text.str()};
  }
  metrics.write_prometheus(text);
  return {200, kPrometheusText, text.str()};
}

/// Whether the exporter itself works: a server that is down is looked at all the same.
HttpEndpoint::Answer health(const ServerWatches& watches, std::chrono::milliseconds interval) {
  const auto now = std::chrono::steady_clock::now();
  for (const SeenServer& seen : seen_by(watches)) {
    const auto since = now - seen.looked_at;
    if (since <= interval + kStuck) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
    return {503, kPlainText, fmt::format("{}: no check has ended for {} s\n", seen.server, seconds)};
  }
  return {200, kPlainText, "ok\n"};
}

/// Text of anybody's, for a page.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : base::printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

constexpr std::string_view kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>holdfast: locks</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }}
h2 {{ font-size: 1.1rem; overflow-wrap: anywhere; }}
div {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #8888; vertical-align: top; }}
td:first-child, td:last-child {{ overflow-wrap: anywhere; min-width: 5rem; }}
.number {{ text-align: right; }}
td.number {{ white-space: nowrap; }}
</style>
</head>
<body>
<h1>Locks</h1>
)";

constexpr std::string_view kTableHead =
    R"(<div><table>
<tr><th>Name<th>Kind<th class="number">Time to live<th class="number">Waiters<th>Holder</tr>
)";
constexpr std::string_view kRow = R"(<tr><td>{}<td>{}<td class="number">{}<td class="number">{}<td>{}</tr>
)";

std::string page_of(const SeenServer& seen) {
  std::string out = fmt::format("<h2>{}</h2>\n", escaped(seen.server));
  if (!seen.up) {
    const std::string trouble = seen.trouble.empty() ? "no answer yet" : base::without_logins(seen.trouble);
    return out + fmt::format("<p>{}</p>\n", escaped(trouble));
  }
  out += fmt::format("<p>{} held, {} waiting{}</p>\n", seen.locks, seen.waiters,
                     seen.listed.size() < seen.locks
                         ? fmt::format("; the {} with the most waiters are shown", seen.listed.size())
                         : "");
  if (seen.listed.empty()) return out;
  out += kTableHead;
  for (const auto& [kind, lock] : seen.listed) {
    out += fmt::format(kRow, escaped(lock.name), row_of(kind).name, lock.remaining ? in_words(*lock.remaining) : "none",
                       lock.listeners.value_or(0), escaped(holder_in_words(kind, lock)));
  }
  return out + "</table></div>\n";
}

/// Each server's locks, as HTML that needs nothing else and refreshes itself.
HttpEndpoint::Answer page(const ServerWatches& watches, std::chrono::milliseconds interval) {
  const auto seconds = std::max<std::int64_t>(2, std::chrono::ceil<std::chrono::seconds>(interval).count());
  std::string out = fmt::format(kPageHead, seconds);
  for (const SeenServer& seen : seen_by(watches)) out += page_of(seen);
  return {200, kHtml, out + "<p><a href=\"metrics\">metrics</a></p>\n</body>\n</html>\n"};
}

HttpEndpoint::Answer answer(const ServerWatches& watches, std::chrono::milliseconds interval, std::string_view path,
                            std::string_view accept) {
  if (path == "/metrics") return metrics_answer(watches, accept);
  if (path == "/") return page(watches, interval);
  if (path == "/healthz") return health(watches, interval);
  return {404, kPlainText, "see /metrics, /healthz and /\n"};
}

/// Where the exporter listens.
struct ListenAddress {
  std::string host = "127.0.0.1";  ///< A numeric address; empty: every address of this machine.
  std::uint16_t port = 9743;
};

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 || inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `ADDRESS:PORT`, `[ADDRESS]:PORT`, or a part of that: `ADDRESS`, or `PORT` of this machine alone. `:PORT` and
/// `*:PORT`: of every address, as other exporters read it. `localhost` is 127.0.0.1; other names are refused. Throws
/// UsageError, which names the option.
ListenAddress listen_address(const std::string& option, const std::string& text) {
  ListenAddress listen;
  const bool bare = is_address(text);  // such as ::1, whose last colon precedes no port
  const bool only_port = is_number(text);
  const std::size_t colon = bare || text.ends_with(']') ? text.npos : text.rfind(':');
  const std::string_view port = only_port            ? std::string_view(text)
                                : colon == text.npos ? std::string_view()
                                                     : std::string_view(text).substr(colon + 1);
  const auto refused = [&] {
    return UsageError(
        fmt::format("{}: {} is not of the form ADDRESS:PORT, such as 127.0.0.1:9743 or [::1]:9743; an address is a "
                    "number, localhost, or * for all of this machine",
                    option, shown(text)));
  };
  if (only_port || colon != text.npos) {
    const auto number = base::to_number<decltype(listen.port)>(port);
    if (!number) throw refused();
    listen.port = *number;
  }
  if (only_port) return listen;
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") return listen;
  if (!host.empty() && host != "*" && !is_address(host)) throw refused();
  listen.host = host == "*" ? "" : host;
  return listen;
}

/// Every address of this machine, if there is none: of both kinds, or without IPv6 of the other.
std::unique_ptr<HttpEndpoint> listen_on(const ListenAddress& listen, const HttpEndpoint::Handler& handler) {
  if (!listen.host.empty()) return std::make_unique<HttpEndpoint>(listen.host, listen.port, handler);
  try {
    return std::make_unique<HttpEndpoint>("::", listen.port, handler);
  } catch (const std::system_error&) {
    return std::make_unique<HttpEndpoint>("0.0.0.0", listen.port, handler);
  }
}

class ExporterVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.value("--listen ADDRESS:PORT",
               R"(where to listen; default 127.0.0.1:9743. An address is a number, localhost, or * (or none)
for every one of this machine; a port alone is on 127.0.0.1, and 0 is one that is free)",
               [this](const std::string& option, const std::string& text) { listen_ = listen_address(option, text); });
    line.duration("--interval TIME", interval_, R"(how often to look, going through all keys; default 15s)",
                  std::chrono::milliseconds(100));
    line.kinds(kinds_);
    line.duration("--doctor TIME", doctor_,
                  R"(how often to examine the servers as the doctor does; default 5m; 0: never)");
  }
  void accept(const CommandLine& line) override { pattern_ = line.at_most_one("the pattern").value_or(pattern_); }
  int run(const Console& console) override;

 private:
  ListenAddress listen_;
  std::string pattern_ = "*";
  std::vector<LockKind> kinds_;
  std::chrono::milliseconds interval_{15'000};
  std::chrono::milliseconds doctor_{300'000};  // 0: never
};

/// Does not return, unless it cannot listen.
int ExporterVerb::run(const Console& console) {
  const SignalGate signals;  // before any thread
  std::vector<Config> configs = make_configs(console);
  ServerWatches watches;
  std::unique_ptr<HttpEndpoint> endpoint;
  const std::string host = listen_.host.empty() ? "*" : listen_.host;
  try {
    endpoint = listen_on(listen_, [this, &watches](std::string_view path, std::string_view accept) {
      return answer(watches, interval_, path, accept);
    });
  } catch (const std::system_error& error) {
    Problem problem = Problem::internal(
        fmt::format("cannot listen on {}: {}", base::host_and_port(host, listen_.port), error.code().message()));
    problem.exit_code = kExitUnavailable;
    console.problem(problem);
    return problem.exit_code;
  }
  watches = watch_all(
      std::move(configs), "exporter",
      {.pattern = pattern_, .kinds = kinds_, .interval = interval_, .doctor = doctor_, .most_kept = kMostShown});
  const std::string reached_at = listen_.host.empty() ? "localhost" : host;
  const std::string url = fmt::format("http://{}/metrics", base::host_and_port(reached_at, endpoint->port()));
  if (console.json()) {
    console.result(json_line(boost::json::object{{"url", url}}));
  } else {
    console.note("listening on " + url + (listen_.host.empty() ? ", at every address of this machine" : ""));
  }
  std::thread([&endpoint] { endpoint->run(); }).detach();
  for (;;) {
    wait_readable(std::array{signals.fd()});
    while (const std::optional<int> signal = signals.next()) {
      // At once, even during a query: nothing is held, so there is nothing to release.
      if (SignalGate::is_ending(*signal)) std::_Exit(kExitOk);
    }
  }
}

}  // namespace

extern const VerbEntry exporter_verb{.name = "exporter",
                                     .summary = R"(answer Prometheus, what the servers have)",
                                     .head = R"(holdfast exporter [OPTIONS] [PATTERN]

Answers Prometheus at http://ADDRESS:PORT/metrics: for each server whether it is up, how many locks are held and waited
for, the least time to live, and what the doctor finds. Looks at the servers in the background, so a request is answered
at once. A browser sees the locks at /, and /healthz is 200 while the exporter works, whatever the servers do. PATTERN:
only these locks, as in ls.
)",
                                     .end = R"(
Exit codes
  0   ended by a signal                    69  it cannot listen there
  64  wrong usage                          70  internal error

Examples
  holdfast exporter
  holdfast exporter --kind all --listen :9743 --url redis://a --url redis://b 'billing:*'
  curl -s http://127.0.0.1:9743/metrics
)",
                                     .make = make_verb<ExporterVerb>};

}  // namespace holdfast::cli
