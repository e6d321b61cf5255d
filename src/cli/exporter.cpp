// `holdfast exporter`: the servers' locks, for Prometheus.
#include <array>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "cli/around.hpp"
#include "cli/connect.hpp"
#include "cli/http_endpoint.hpp"
#include "cli/json.hpp"
#include "cli/server_watch.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using Watches = std::vector<std::unique_ptr<ServerWatch>>;

HttpEndpoint::Answer metrics_answer(const Watches& watches, std::string_view accept) {
  std::vector<SeenServer> seen;
  for (const auto& watch : watches) seen.push_back(watch->seen());
  const Metrics metrics = metrics_of(seen);
  std::ostringstream text;
  if (accept.find("application/openmetrics-text") != accept.npos) {
    metrics.write_openmetrics(text);
    return {200, kOpenmetricsText, text.str()};
  }
  metrics.write_prometheus(text);
  return {200, kPrometheusText, text.str()};
}

HttpEndpoint::Answer answer(const Watches& watches, std::string_view path, std::string_view accept) {
  if (path == "/metrics") return metrics_answer(watches, accept);
  if (path == "/") return {200, kPlainText, "see /metrics\n"};
  return {404, kPlainText, "see /metrics\n"};
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

}  // namespace

int exporter(const CommonOptions& common, const ExporterOptions& options, const Console& console) {
  const SignalGate signals;  // before any thread
  std::vector<Config> configs = make_configs(common, console);
  Watches watches;
  std::unique_ptr<HttpEndpoint> endpoint;
  const std::string host = options.listen.host.empty() ? "*" : options.listen.host;
  try {
    endpoint = listen_on(options.listen, [&watches](std::string_view path, std::string_view accept) {
      return answer(watches, path, accept);
    });
  } catch (const std::system_error& error) {
    Problem problem = Problem::internal(
        fmt::format("cannot listen on {}: {}", base::host_and_port(host, options.listen.port), error.code().message()));
    problem.exit_code = kExitUnavailable;
    console.problem(problem);
    return problem.exit_code;
  }
  for (Config& config : configs) {
    if (config.label.empty()) config.label = "exporter";
    watches.push_back(std::make_unique<ServerWatch>(
        std::move(config), ServerWatch::Settings{options.pattern, options.interval, options.doctor}));
  }
  const std::string reached_at = options.listen.host.empty() ? "localhost" : host;
  const std::string url = fmt::format("http://{}/metrics", base::host_and_port(reached_at, endpoint->port()));
  if (console.json()) {
    console.result(json_line(boost::json::object{{"url", url}}));
  } else {
    console.note("listening on " + url + (options.listen.host.empty() ? ", at every address of this machine" : ""));
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

}  // namespace holdfast::cli
