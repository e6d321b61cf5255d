// SPDX-License-Identifier: Apache-2.0
// What a client has measured, as text for Prometheus.
#include <cstdlib>
#include <iostream>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  holdfast::Config config = holdfast::Config::from_url(url ? url : "redis://127.0.0.1:6379");
  config.lock_class = holdfast::lock_class;  // `example:order:*`, however many orders there are
  holdfast::Client client{config};

  for (int order = 1; order <= 3; ++order) {
    const holdfast::Hold hold = client.lock("example:order:" + std::to_string(order)).acquire();
  }
  client.metrics().write_openmetrics(std::cout);  // what the handler of /metrics answers

  const holdfast::Metrics metrics = client.metrics();
  const holdfast::MetricFamily* waiters = metrics.find("holdfast_waiters");
  std::cerr << waiters->metrics.front().value << " calls wait\n";
}
