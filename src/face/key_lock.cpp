#include <holdfast/fenced_lock.hpp>
#include <holdfast/key_lock.hpp>

#include "face/looking.hpp"
#include "face/parts.hpp"
#include "face/question.hpp"

namespace holdfast {

bool KeyLock::is_locked() const { return face::ask(*parts()->runtime, face::is_locked(face::key_target(*parts()))); }

bool KeyLock::is_held_by(const std::string& owner) const {
  return face::ask(*parts()->runtime, face::is_held_by(face::key_target(*parts()), wire::Owner{owner, parts()->ask}));
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return face::ask(*parts()->runtime, face::remaining(face::key_target(*parts())));
}

LockInfo KeyLock::info(Detail detail) const {
  return face::ask_in_steps(*parts()->runtime, face::Looking(face::key_target(*parts()), detail), name());
}

bool KeyLock::force_release() const {
  return face::ask(*parts()->runtime, face::force_release(face::key_target(*parts())));
}

bool KeyLock::force_release(const std::string& owner) const {
  return face::ask(*parts()->runtime, face::force_release(face::key_target(*parts()), wire::Owner{owner}));
}

std::int64_t FencedLock::latest_token() const {
  return face::ask(*parts()->runtime, face::latest_token(face::key_target(*parts())));
}

}  // namespace holdfast
