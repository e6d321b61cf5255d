#include <holdfast/key_lock.hpp>

#include "engine/core.hpp"
#include "engine/site.hpp"
#include "sync/question.hpp"

namespace holdfast {

engine::Site& KeyLock::site() const noexcept { return static_cast<engine::Site&>(*parts().target); }

bool KeyLock::is_locked() const { return sync::ask(*parts().core, sync::is_locked(site())); }

bool KeyLock::is_held_by(const std::string& owner) const {
  return sync::ask(*parts().core, sync::is_held_by(site(), owner));
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return sync::ask(*parts().core, sync::remaining(site()));
}

LockInfo KeyLock::info() const { return sync::ask(*parts().core, sync::info(site())); }

bool KeyLock::force_release() { return sync::ask(*parts().core, sync::force_release(site())); }

}  // namespace holdfast
