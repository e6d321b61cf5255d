#include <holdfast/key_lock.hpp>

#include "engine/hold/site.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/looking.hpp"
#include "face/question.hpp"

namespace holdfast {

engine::Site& KeyLock::site() const noexcept { return static_cast<engine::Site&>(*parts().target); }

bool KeyLock::is_locked() const { return face::ask(*parts().runtime, face::is_locked(site())); }

bool KeyLock::is_held_by(const std::string& owner) const {
  return face::ask(*parts().runtime, face::is_held_by(site(), owner));
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return face::ask(*parts().runtime, face::remaining(site()));
}

LockInfo KeyLock::info(Detail detail) const {
  return face::ask_in_steps(*parts().runtime, face::Looking(site(), detail), name());
}

bool KeyLock::force_release() { return face::ask(*parts().runtime, face::force_release(site())); }

bool KeyLock::force_release(const std::string& owner) {
  return face::ask(*parts().runtime, face::force_release(site(), owner));
}

}  // namespace holdfast
