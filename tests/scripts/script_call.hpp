// SPDX-License-Identifier: Apache-2.0
// Running the library's scripts without the library's connection: typed calls in, the server's own reply out.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/resp.hpp"
#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"
#include "kinds/server_calls.hpp"
#include "kinds/simple_lock.hpp"
#include "support/raw.hpp"

namespace holdfast::test {

// Owners in the shape of the golden vectors.
inline const wire::Owner kA{"11111111-2222-4333-8444-555555555555:1"};
inline const wire::Owner kB{"99999999-2222-4333-8444-555555555555:7"};

/// Every embedded script. A test checks that none is missing here.
inline const std::vector<const base::Script*>& all_scripts() {
  namespace all = wire::scripts;
  static const std::vector<const base::Script*> scripts{&all::lock_acquire,
                                                        &all::lock_acquire_all,
                                                        &all::lock_acquire_any,
                                                        &all::lock_release,
                                                        &all::lock_release_all,
                                                        &all::lock_release_any,
                                                        &all::lock_force_release,
                                                        &all::lock_look,
                                                        &all::lock_renew,
                                                        &all::simple_acquire,
                                                        &all::simple_acquire_all,
                                                        &all::simple_release,
                                                        &all::simple_release_all,
                                                        &all::simple_force_release,
                                                        &all::simple_renew,
                                                        &all::fair_acquire,
                                                        &all::fair_force_release,
                                                        &all::fair_leave,
                                                        &all::fair_look,
                                                        &all::fair_release,
                                                        &all::read_write_acquire_read,
                                                        &all::read_write_acquire_write,
                                                        &all::read_write_downgrade,
                                                        &all::read_write_release_read,
                                                        &all::read_write_release_write,
                                                        &all::read_write_force_release,
                                                        &all::read_write_look,
                                                        &all::read_write_renew,
                                                        &all::latch_count_down,
                                                        &all::latch_remove,
                                                        &all::latch_set,
                                                        &all::permits_acquire,
                                                        &all::permits_add,
                                                        &all::permits_force_release,
                                                        &all::permits_look,
                                                        &all::permits_release,
                                                        &all::permits_remove,
                                                        &all::permits_renew,
                                                        &all::permits_set,
                                                        &all::permits_set_total,
                                                        &all::semaphore_acquire,
                                                        &all::semaphore_add,
                                                        &all::semaphore_drain,
                                                        &all::semaphore_release,
                                                        &all::semaphore_set,
                                                        &all::spin_force_release,
                                                        &all::spin_release};
  return scripts;
}

// Calls of one lock, and of several.
namespace lock {
inline base::Command acquire(const wire::LockNames& names, const wire::Owner& owner, std::chrono::milliseconds lease,
                             bool count_listeners = false) {
  return wire::lock::acquire({{&names, 1}, owner, lease, count_listeners});
}
inline base::Command acquire_all(wire::Names names, const wire::Owner& owner, std::chrono::milliseconds lease) {
  return wire::lock::acquire({names, owner, lease});
}
inline base::Command release(const wire::LockNames& names, const wire::Owner& owner) {
  return wire::lock::release({{&names, 1}, owner});
}
inline base::Command release_all(wire::Names names, const wire::Owner& owner) {
  return wire::lock::release({names, owner});
}
}  // namespace lock
namespace simple {
inline base::Command acquire(const wire::LockNames& names, const wire::Owner& owner, std::chrono::milliseconds lease) {
  return wire::simple::acquire({{&names, 1}, owner, lease});
}
inline base::Command acquire_all(wire::Names names, const wire::Owner& owner, std::chrono::milliseconds lease) {
  return wire::simple::acquire({names, owner, lease});
}
inline base::Command release(const wire::LockNames& names, const wire::Owner& owner) {
  return wire::simple::release({{&names, 1}, owner});
}
inline base::Command release_all(wire::Names names, const wire::Owner& owner) {
  return wire::simple::release({names, owner});
}
}  // namespace simple

/// The two ways in which a script is sent.
enum class SendBy { text, hash };

inline Reply run(Raw& raw, const base::Command& command, SendBy by = SendBy::text) {
  std::vector<std::string> args;
  if (command.script != nullptr) {
    args = by == SendBy::text ? std::vector<std::string>{"EVAL", std::string(command.script->text)}
                              : std::vector<std::string>{"EVALSHA", std::string(command.script->sha1)};
  }
  args.insert(args.end(), command.args.begin(), command.args.end());
  return raw.send(args);
}

}  // namespace holdfast::test
