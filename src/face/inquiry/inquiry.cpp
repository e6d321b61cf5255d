// SPDX-License-Identifier: Apache-2.0
#include "face/inquiry/inquiry.hpp"

#include <utility>

#include "face/parts.hpp"
#include "lock/client/closing.hpp"
#include "lock/runtime/asking.hpp"

namespace holdfast::detail {
namespace {

/// Of all replies to one question. A list of 1,800 ranges of slots and their replicas is as long.
constexpr std::size_t kMostBytes = 2U << 20U;
constexpr std::size_t kMostElements = 1U << 15U;

}  // namespace

const Config& settings_of(const Client& client) {
  engine::Runtime& runtime = ClientAccess::core(client).runtime();
  runtime.require_usable({});
  runtime.require_waiting({});
  return runtime.config();
}

Inquiry::Inquiry(Config config) : core_(engine::Core::make(std::move(config), nullptr)) {}

Inquiry::~Inquiry() { engine::close_and_wait(core_); }

std::vector<base::Reply> Inquiry::ask(std::vector<base::Command> commands) {
  engine::Inquiry inquiry{std::move(commands)};
  inquiry.most = {.bytes = kMostBytes, .elements = kMostElements};
  return engine::ask(core_->runtime(), std::move(inquiry), {}, engine::Errors::keep);
}

}  // namespace holdfast::detail
