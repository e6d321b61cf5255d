// SPDX-License-Identifier: Apache-2.0
// The transitions of a spin lock: the plain lock's, and never a message.
#include <array>

#include "kinds/scripts.hpp"
#include "sim/model/transition_parts.hpp"

namespace holdfast::test {
namespace spin {
namespace {

void release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  host.keyspace().erase_field(keys[0], args[0]) ? put_number(reply, 0) : put_null(reply);
}

void force_release(ScriptHost& host, Args keys, Args args, std::string& reply) {
  put_number(reply, take_lock(host, keys[0], args, 0) ? 1 : 0);
}

}  // namespace
}  // namespace spin

std::span<const KnownScript> spin_scripts() {
  namespace scripts = wire::scripts;
  static constexpr std::array<KnownScript, 2> kScripts{
      {{&scripts::spin_release, spin::release}, {&scripts::spin_force_release, spin::force_release}}};
  return kScripts;
}

}  // namespace holdfast::test
