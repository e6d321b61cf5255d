// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include "face/listing.hpp"
#include "face/parts.hpp"
#include "face/queries.hpp"
#include "kinds/kinds.hpp"
#include "kinds/latch.hpp"
#include "lock/client/closing.hpp"
#include "lock/client/core.hpp"
#include "lock/targets/any_target.hpp"

namespace holdfast {
namespace {

const std::string kNone;

}  // namespace

Client::Client(std::string_view url) : Client(Config::from_url(url)) {}

Client::Client(Config config) : core_(engine::Core::make(std::move(config), nullptr)) {}

Client::Client(std::shared_ptr<engine::Core> core) noexcept : core_(std::move(core)) {}

Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this != &other) {
    const Client old(std::move(*this));
    core_ = std::move(other.core_);
  }
  return *this;
}

Client::~Client() {
  if (core_ && core_->runtime().in_child()) {
    // The core would join threads that exist only in the parent, so in the child it is never destroyed.
    new (std::nothrow) std::shared_ptr<engine::Core>(std::move(core_));
    return;
  }
  close();
}

void Client::close() const noexcept {
  if (core_ && !core_->runtime().in_child()) engine::close_and_wait(core_);
}

const std::shared_ptr<engine::Core>& Client::core() const {
  if (!core_) throw Error(Errc::closed, {}, {}, "the client was moved from");
  return core_;
}

detail::PartsPtr Client::parts_of(std::string_view name, const engine::Plan& plan, LockOptions defaults) const {
  core()->runtime().require_usable(std::string(name));
  if (name.empty()) throw Error(Errc::invalid_argument, {}, core()->runtime().node(), "the lock's name is empty");
  return face::make_parts(core()->shared_runtime(), core()->targets().target({std::string(name)}, plan),
                          std::move(defaults));
}

Lock Client::lock(std::string_view name, LockOptions defaults) const {
  return Lock(parts_of(name, kinds::kLock, std::move(defaults)));
}

SimpleLock Client::simple_lock(std::string_view name, LockOptions defaults) const {
  return SimpleLock(parts_of(name, kinds::kSimpleLock, std::move(defaults)));
}

FencedLock Client::fenced_lock(std::string_view name, LockOptions defaults) const {
  return FencedLock(parts_of(name, kinds::kFencedLock, std::move(defaults)));
}

FairLock Client::fair_lock(std::string_view name, LockOptions defaults) const {
  const Config& config = core()->runtime().config();
  if (!config.name_prefix.empty() && !config.fair_with_prefix) {
    throw Error(
        Errc::invalid_argument, std::string(name), core()->runtime().node(),
        "a FairLock under a name_prefix: Redisson before 3.52 keeps its queue under the name without the prefix, "
        "and would share neither its order nor its wakes; if no such Redisson takes part, set fair_with_prefix");
  }
  return FairLock(parts_of(name, kinds::kFairLock, std::move(defaults)));
}

SpinLock Client::spin_lock(std::string_view name, LockOptions defaults) const {
  return SpinLock(parts_of(name, kinds::kSpinLock, std::move(defaults)));
}

ReadWriteLock Client::read_write_lock(std::string_view name, LockOptions defaults) const {
  return ReadWriteLock::make(parts_of(name, kinds::kReadWriteLock, std::move(defaults)));
}

LeasedSemaphore Client::leased_semaphore(std::string_view name, LockOptions defaults) const {
  return LeasedSemaphore(parts_of(name, kinds::kLeasedSemaphore, std::move(defaults)));
}

Semaphore Client::semaphore(std::string_view name) const { return Semaphore(parts_of(name, kinds::kSemaphore, {})); }

Latch Client::latch(std::string_view name) const {
  detail::PartsPtr parts = parts_of(name, kinds::kLatch, {});
  if (core()->runtime().router().only_shard() == nullptr &&
      !wire::latch::fits_cluster(core()->runtime().config().name_prefix + std::string(name))) {
    throw face::error_about(*parts->target, Errc::invalid_argument,
                            "a latch's name has no } in a cluster, where its channel would lie in another slot");
  }
  return Latch(std::move(parts));
}

MultiLock Client::multi_lock(const std::vector<std::string>& names, LockOptions defaults) const {
  std::vector<Lock> members;
  for (const std::string& name : names) members.push_back(lock(name));
  return MultiLock(members, std::move(defaults));
}

AnyLock Client::any_lock(const std::vector<std::string>& names, LockOptions defaults) const {
  engine::Runtime& runtime = core()->runtime();
  const auto refuse = [&](const char* why) { throw Error(Errc::invalid_argument, {}, runtime.node(), why); };
  if (names.empty()) refuse("an AnyLock needs at least one lock");
  runtime.require_usable(names.front());
  std::vector<std::string> once;
  for (const std::string& name : names) {
    if (name.empty()) refuse("the lock's name is empty");
    if (std::ranges::find(once, name) == once.end()) once.push_back(name);
  }
  const std::shared_ptr<engine::Runtime> shared = core()->shared_runtime();
  return AnyLock(
      face::make_parts(shared, engine::any_of(shared, core()->targets(), once, kinds::kAnyLock), std::move(defaults)));
}

void Client::ping() const { face::ask_in_steps(core()->runtime(), face::Pinging(core()->runtime()), {}); }

std::vector<LockInfo> Client::list(std::string_view pattern, InfoDetail detail, KeyForm what) const {
  return face::ask_in_steps(core()->runtime(), face::Listing(core()->runtime(), std::string(pattern), detail, what),
                            {});
}

std::size_t Client::release_all(std::chrono::milliseconds within) const {
  engine::Runtime& runtime = core()->runtime();
  if (runtime.closed()) return 0;
  runtime.require_usable({});
  runtime.require_waiting({});
  return engine::give_back_all(*core_, base::Clock::now() + within);
}

Counters Client::counters() const {
  Counters counters = core()->runtime().reporter().snapshot();
  counters.holding = core()->watchdog().holds();
  return counters;
}

Metrics Client::metrics() const {
  engine::Runtime& runtime = core()->runtime();
  std::vector<std::pair<std::string, bool>> links = runtime.links().all();
  if (links.empty()) links.emplace_back(runtime.node(), false);
  const engine::Watchdog& watchdog = core()->watchdog();
  return runtime.reporter().metrics(watchdog.holds(), watchdog.lowest_validity(), links);
}

const std::string& Client::id() const noexcept { return core_ ? core_->runtime().id() : kNone; }
const std::string& Client::node() const noexcept { return core_ ? core_->runtime().node() : kNone; }

}  // namespace holdfast
