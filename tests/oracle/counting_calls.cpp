// SPDX-License-Identifier: Apache-2.0
#include "oracle/counting_calls.hpp"

#include <utility>

#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/semaphore.hpp"
#include "oracle/history.hpp"

namespace holdfast::test::oracle {
namespace {

/// By which a server knows a change again that nobody holds anything by.
std::string change_of(const wire::Owner& owner) { return owner.text + ":change"; }

}  // namespace

std::vector<std::string> known_again() {
  std::vector<std::string> all;
  for (const wire::Owner& owner : Draw::owners()) {
    all.insert(all.end(), {wire::acquired_key(owner), wire::released_key(owner), change_of(owner)});
  }
  return all;
}

std::optional<wire::Once> CountingCalls::once(std::string key, milliseconds remembered) {
  if (below(3) == 0) return std::nullopt;
  return wire::Once{std::move(key), remembered};
}
wire::Owner CountingCalls::with_permits() {
  wire::Owner owner = one_of(owners());
  owner.ask.permits = static_cast<std::uint32_t>(1 + below(3));
  return owner;
}

std::vector<std::string> CountingCalls::semaphore(milliseconds lease) {
  const wire::LockNames name = wire::semaphore::names(one_of(names()));
  const wire::Owner owner = with_permits();
  const std::size_t dice = below(20);
  if (dice < 7) {
    wire::AcquireCall call{{&name, 1}, owner, {}};
    call.count_listeners = below(2) == 0;
    call.once = once(wire::acquired_key(owner), lease);
    call.publish = publish();
    return sent(wire::semaphore::acquire(call));
  }
  if (dice < 12) {
    wire::ReleaseCall call{{&name, 1}, owner};
    call.once = once(wire::released_key(owner), lease);
    if (below(3) == 0) call.undoes = wire::acquired_key(owner);
    call.publish = publish();
    return sent(wire::semaphore::release(call));
  }
  wire::semaphore::ChangeCall call{name, static_cast<std::int64_t>(below(5)), once(change_of(owner), lease), publish()};
  if (dice < 16) {
    return sent(wire::semaphore::set(call, below(3) == 0 ? std::optional(lease) : std::nullopt));
  }
  if (dice == 16) return sent(wire::semaphore::drain(name, call.once));
  if (dice == 17) return sent(wire::semaphore::add_if_there(call));
  if (dice == 18 && below(2) == 0) return sent(wire::semaphore::remove(name, call.once, publish()));
  call.permits -= 2;
  return sent(wire::semaphore::add(call));
}

base::Command CountingCalls::acquire_permits(milliseconds lease) {
  const wire::LockNames name = wire::permits::names(one_of(names()));
  const wire::Owner owner = with_permits();
  wire::AcquireCall call{{&name, 1}, owner, below(8) == 0 ? wire::permits::kForEver : lease};
  call.count_listeners = below(2) == 0;
  call.publish = publish();
  return wire::permits::acquire(call);
}
base::Command CountingCalls::renew_permits(milliseconds lease) {
  std::vector<wire::Renewal> renewals;
  for (std::size_t i = 1 + below(3); i > 0; --i) {
    std::string ids;
    for (const std::string& id : wire::permits::ids_of(with_permits())) {
      ids += (ids.empty() ? "" : ",") + wire::permits::shown(id);
    }
    renewals.push_back({one_of(names()), std::move(ids)});
  }
  return wire::permits::renew(renewals, lease);
}
std::vector<std::string> CountingCalls::permits(milliseconds lease) {
  const wire::LockNames name = wire::permits::names(one_of(names()));
  const wire::Owner owner = with_permits();
  const std::size_t dice = below(20);
  if (dice < 9) return sent(acquire_permits(lease));
  if (dice < 13) {
    wire::ReleaseCall call{{&name, 1}, owner};
    call.publish = publish();
    return sent(wire::permits::release(call));
  }
  if (dice < 15) return sent(renew_permits(lease));
  wire::permits::ChangeCall call{name, static_cast<std::int64_t>(2 + below(4)), once(change_of(owner), lease),
                                 publish()};
  const auto lives = below(3) == 0 ? std::optional(10 * lease) : std::nullopt;
  if (dice == 15) return sent(wire::permits::set(call, lives));
  if (dice < 18) return sent(wire::permits::set_total(call, lives));
  call.permits -= 3;
  if (dice == 18) return sent(wire::permits::add(call));
  if (dice == 19 && below(2) == 0) return sent(wire::permits::remove(name, call.once, publish()));
  return sent(wire::permits::force_release(name, below(2) == 0 ? std::optional(owner) : std::nullopt, publish()));
}

std::vector<std::string> CountingCalls::latch(milliseconds lease) {
  const wire::LockNames name = wire::latch::names(one_of(names()));
  const std::size_t dice = below(10);
  if (dice == 0) return sent(wire::latch::remove({name, once(change_of(one_of(owners())), lease), publish()}));
  wire::latch::CountCall call{name, static_cast<std::int64_t>(1 + below(3)), once(change_of(one_of(owners())), lease),
                              publish()};
  if (dice > 3) return sent(wire::latch::count_down(call));
  call.count = static_cast<std::int64_t>(below(5));
  return sent(wire::latch::set(call));
}

}  // namespace holdfast::test::oracle
