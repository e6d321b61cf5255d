#include <holdfast/key_lock.hpp>

#include "engine/core.hpp"
#include "engine/site.hpp"

namespace holdfast {

engine::Site& KeyLock::site() const noexcept { return static_cast<engine::Site&>(*parts().target); }

bool KeyLock::is_locked() const {
  return parts().core->ask({site().plan().count(site().names().key)}, name()).front().integer > 0;
}

bool KeyLock::is_held_by(const std::string& owner) const {
  const engine::Plan& plan = site().plan();
  return plan.is_owner(parts().core->ask({plan.ask_owner(site().names().key, owner)}, name()).front(), owner);
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return wire::time_left(parts().core->ask({wire::remaining(site().names().key)}, name()).front());
}

LockInfo KeyLock::info() const {
  const engine::Plan& plan = site().plan();
  const std::string& key = site().names().key;
  const std::vector<base::Reply> replies = parts().core->ask({plan.holder(key), wire::remaining(key)}, name());
  const wire::Held held = plan.decode_holder(replies[0]);
  return {name(), held.owner, held.owner.empty() ? std::nullopt : wire::time_left(replies[1]), held.count};
}

bool KeyLock::force_release() {
  return parts().core->ask({site().plan().force_release(site().names())}, name()).front().integer == 1;
}

}  // namespace holdfast
