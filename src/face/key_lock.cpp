#include <holdfast/fenced_lock.hpp>
#include <holdfast/key_lock.hpp>

#include "engine/hold/key_target.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/looking.hpp"
#include "face/question.hpp"

namespace holdfast {

engine::KeyTarget& KeyLock::key_target() const noexcept { return static_cast<engine::KeyTarget&>(*parts().target); }

bool KeyLock::is_locked() const { return face::ask(*parts().runtime, face::is_locked(key_target())); }

bool KeyLock::is_held_by(const std::string& owner) const {
  return face::ask(*parts().runtime, face::is_held_by(key_target(), owner));
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return face::ask(*parts().runtime, face::remaining(key_target()));
}

LockInfo KeyLock::info(Detail detail) const {
  return face::ask_in_steps(*parts().runtime, face::Looking(key_target(), detail), name());
}

bool KeyLock::force_release() const { return face::ask(*parts().runtime, face::force_release(key_target())); }

bool KeyLock::force_release(const std::string& owner) const {
  return face::ask(*parts().runtime, face::force_release(key_target(), wire::Owner{owner}));
}

std::int64_t FencedLock::latest_token() const { return face::ask(*parts().runtime, face::latest_token(key_target())); }

}  // namespace holdfast
