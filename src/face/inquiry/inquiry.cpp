#include "face/inquiry/inquiry.hpp"

#include <utility>

#include "engine/client/closing.hpp"
#include "engine/runtime/asking.hpp"
#include "face/client_access.hpp"

namespace holdfast::detail {

const Config& settings_of(const Client& client) {
  engine::Runtime& runtime = ClientAccess::core(client).runtime();
  runtime.require_usable({});
  runtime.require_waiting({});
  return runtime.config();
}

Inquiry::Inquiry(Config config) : core_(engine::Core::make(std::move(config), nullptr)) {}

Inquiry::~Inquiry() { engine::close_and_wait(core_); }

std::vector<base::Reply> Inquiry::ask(std::vector<base::Command> commands) {
  return engine::ask(core_->runtime(), {std::move(commands)}, {}, engine::Errors::keep);
}

}  // namespace holdfast::detail
