// SPDX-License-Identifier: Apache-2.0
#include "kinds/spin_lock.hpp"

#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"

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

namespace holdfast::kinds {

const engine::Plan kSpinLock{
    .traits = {.announced = engine::Traits::Announced::none},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::lock::acquire,
                    .release = wire::spin::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::spin::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder},
};

}  // namespace holdfast::kinds
