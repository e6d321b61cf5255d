#include "wire/spin_calls.hpp"

#include "wire/scripts.hpp"

namespace holdfast::wire::spin {

base::Command release(const ReleaseCall& call) {
  return base::Command::call(scripts::spin_release, "1", call.names.front().key, call.owner.text);
}

base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish /*publish*/) {
  base::Command command = base::Command::call(scripts::spin_force_release, "1", names.key);
  if (owner) command.args.push_back(owner->text);
  return command;
}

}  // namespace holdfast::wire::spin
