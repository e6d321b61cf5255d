// An HTTP endpoint that answers GET with short texts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::cli {

inline constexpr const char* kPlainText = "text/plain; charset=utf-8";
inline constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr const char* kOpenmetricsText = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
  HttpEndpoint(const std::string& host, std::uint16_t port, Handler handler);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  std::uint16_t port() const;
  /// Serves, in the calling thread, until the process ends.
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::cli
