// SPDX-License-Identifier: Apache-2.0
#include "redis/settings/local_url.hpp"

#include <atomic>

#include <holdfast/error.hpp>

namespace holdfast {
namespace {

std::atomic<detail::LocalServer> starter{nullptr};

}  // namespace

void detail::set_local_server(LocalServer start) noexcept { starter.store(start); }

std::string redis::local_server() {
  const detail::LocalServer start = starter.load();
  if (start == nullptr) {
    throw Error(Errc::invalid_argument, {}, {},
                "a local: URL needs holdfast::testing: link it, and call holdfast::enable_local_urls() first");
  }
  return start();
}

}  // namespace holdfast
