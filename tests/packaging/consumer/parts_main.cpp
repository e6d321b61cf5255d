// SPDX-License-Identifier: Apache-2.0
// The libraries beside the core: a server of this program's own, asked what about it endangers locks; and a test kit,
// which loses one.
#include <chrono>
#include <cstdio>
#include <thread>

#include <holdfast/holdfast.hpp>
#include <holdfast/probe.hpp>
#include <holdfast/testing.hpp>

namespace {

bool kit_loses_a_lock() {
  holdfast::TestKit kit;
  const holdfast::Client client{kit.config()};
  const holdfast::Hold hold = client.lock("consumer").acquire();
  kit.lose("consumer");
  while (!hold.is_lost()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return hold.loss_reason() == holdfast::LossReason::taken;
}

}  // namespace

int main() {
  try {
    const holdfast::Client refused{"local:"};
    return 1;
  } catch (const holdfast::Error& error) {
    std::printf("%s\n", error.what());
    if (error.code() != holdfast::Errc::invalid_argument) return 1;
  }
  if (!kit_loses_a_lock()) return 1;
  const holdfast::TestServer server;
  holdfast::Client client{server.url()};
  const holdfast::Hold hold = client.lock("consumer").acquire();
  const holdfast::ProbeReport report = holdfast::probe(client, "consumer");
  for (const holdfast::Finding& finding : report.findings) {
    if (finding.severity > holdfast::Severity::note) std::printf("%s\n", finding.text.c_str());
  }
  return report.reached() && report.worst() <= holdfast::Severity::note ? 0 : 1;
}
