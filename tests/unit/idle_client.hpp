// SPDX-License-Identifier: Apache-2.0
// The inside of a client that is never started: nothing is sent and nothing runs, but what it knows itself is real.
#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "lock/renew/watchdog.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/targets.hpp"

namespace holdfast::engine {

struct IdleClient {
  static Config config() {
    Config config;
    config.name_prefix = "app:";
    config.kinds.handoff = std::chrono::milliseconds(2);
    return config;
  }

  boost::asio::io_context context;
  redis::ServerEvents nobody;
  const std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>(config(), &context, nobody);
  Watchdog watchdog{*runtime};
  const boost::intrusive_ptr<Targets> targets{new Targets(*runtime, watchdog)};
};

}  // namespace holdfast::engine
