// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <holdfast/detail/handle_access.hpp>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "json/json.hpp"

using holdfast::Errc;
using holdfast::Error;
using holdfast::Failure;
using holdfast::c::given;
using holdfast::c::guarded;
using holdfast::c::start;
using holdfast::c::text_of;
using holdfast::detail::Counting;
using holdfast::detail::HandleAccess;

/// One of all kinds.
struct hf_lock {
  using Any = std::variant<holdfast::Lock, holdfast::SimpleLock, holdfast::FencedLock, holdfast::FairLock,
                           holdfast::SpinLock, holdfast::ReadLock, holdfast::WriteLock, holdfast::LeasedSemaphore,
                           holdfast::MultiLock, holdfast::RedLock, holdfast::AnyLock>;
  Any any;
  bool limited = false;  // by default its waits have a limit

  const holdfast::BasicLock& basic() const {
    return *std::visit([](const holdfast::BasicLock& lock) { return &lock; }, any);
  }
  /// Throws Error(invalid_argument) for several locks as one.
  const holdfast::KeyLock& key() const;
  /// Throws Error(invalid_argument) for another kind.
  template <class Kind>
  const Kind& as(const char* kind) const {
    if (const Kind* lock = std::get_if<Kind>(&any)) return *lock;
    throw holdfast::Error(holdfast::Errc::invalid_argument, basic().name(), {},
                          std::string("only a lock of kind ") + kind + " can do that");
  }
  /// Of a write lock; otherwise null.
  holdfast::detail::PartsPtr writer() const;
};

namespace holdfast::c {
namespace {

hf_lock::Any made(const Client& client, int kind, std::string_view name, LockOptions defaults, std::int64_t permits) {
  if (kind != HF_LEASED && permits != 1) {
    throw Error(Errc::invalid_argument, std::string(name), {}, "options.permits is for HF_LEASED only");
  }
  switch (kind) {
    case HF_LOCK:
      return client.lock(name, std::move(defaults));
    case HF_SIMPLE:
      return client.simple_lock(name, std::move(defaults));
    case HF_FENCED:
      return client.fenced_lock(name, std::move(defaults));
    case HF_FAIR:
      return client.fair_lock(name, std::move(defaults));
    case HF_SPIN:
      return client.spin_lock(name, std::move(defaults));
    case HF_READ:
      return client.read_write_lock(name, std::move(defaults)).reader();
    case HF_WRITE:
      return client.read_write_lock(name, std::move(defaults)).writer();
    case HF_LEASED:
      return client.leased_semaphore(name, std::move(defaults)).with_permits(permits);
    default:
      throw Error(Errc::invalid_argument, std::string(name), {}, "kind is not an hf_kind");
  }
}

std::span<hf_lock* const> members_of(hf_lock* const* members, std::size_t number) {
  if (number == 0) throw Error(Errc::invalid_argument, {}, {}, "there are no members");
  const std::span<hf_lock* const> all(&given(members, "members"), number);
  for (const hf_lock* each : all) given(each, "a member");
  return all;
}

/// All of one kind, or nothing.
template <class Kind>
std::vector<Kind> all_of(std::span<hf_lock* const> members) {
  std::vector<Kind> out;
  for (const hf_lock* each : members) {
    if (const Kind* lock = std::get_if<Kind>(&each->any)) out.push_back(*lock);
  }
  if (out.size() != members.size()) out.clear();
  return out;
}

/// Several as one; of each of these kinds, if all are of that kind.
template <class Several, class... Kinds>
hf_lock::Any several(std::span<hf_lock* const> members, const LockOptions& options, const char* refusal) {
  std::optional<hf_lock::Any> out;
  const auto try_kind = [&]<class Kind>(std::type_identity<Kind>) {
    if (out) return;
    const std::vector<Kind> all = all_of<Kind>(members);
    if (!all.empty()) out = Several(all, options);
  };
  (try_kind(std::type_identity<Kinds>()), ...);
  if (!out) throw Error(Errc::invalid_argument, members.front()->basic().name(), {}, refusal);
  return *std::move(out);
}

template <class Several, class... Kinds>
int open_several(hf_lock* const* members, std::size_t number, const hf_options* options, hf_lock** lock,
                 const char* refusal) {
  return guarded([&] {
    const LockOptions defaults = lock_options(options);
    auto& out = given(lock, "lock");
    out = new hf_lock{several<Several, Kinds...>(members_of(members, number), defaults, refusal),
                      defaults.wait.has_value()};
  });
}

/// Without a limit of its own or of its handle it waits without one, as acquire() does.
AcquireOptions waiting(const hf_lock& lock, const hf_options* options) {
  AcquireOptions out = acquire_options(options);
  if (!out.wait && !lock.limited) out.wait = std::chrono::milliseconds::max();
  return out;
}

template <class... Results, class Make>
int ask(const hf_lock* lock, hf_queue* queue, std::uint64_t tag, Make make) {
  return guarded([&] {
    const detail::PartsPtr& parts = HandleAccess::parts(given(lock, "lock").key());
    start<Failure, Results...>(queue, tag, {}, [&](auto receiver) { return make(parts, std::move(receiver)); });
  });
}

template <class Result>
int count(const hf_lock* lock, Counting what, std::int64_t number, hf_queue* queue, std::uint64_t tag) {
  return guarded([&] {
    const detail::PartsPtr& parts = HandleAccess::parts(given(lock, "lock").as<LeasedSemaphore>("HF_LEASED"));
    start<Failure, Result>(
        queue, tag, {}, [&](auto receiver) { return detail::make_counting(parts, what, number, std::move(receiver)); });
  });
}

}  // namespace
}  // namespace holdfast::c

using namespace holdfast::c;

const holdfast::FencedLock& holdfast::c::fenced_of(const hf_lock* lock) {
  return given(lock, "lock").as<FencedLock>("HF_FENCED");
}

const holdfast::KeyLock& hf_lock::key() const {
  return std::visit(
      [](const auto& lock) -> const holdfast::KeyLock& {
        if constexpr (std::is_base_of_v<holdfast::KeyLock, std::remove_cvref_t<decltype(lock)>>) {
          return lock;
        } else {
          throw Error(Errc::invalid_argument, lock.name(), {}, "several locks as one cannot be asked that");
        }
      },
      any);
}

holdfast::detail::PartsPtr hf_lock::writer() const {
  const auto* lock = std::get_if<holdfast::WriteLock>(&any);
  return lock != nullptr ? HandleAccess::parts(*lock) : nullptr;
}

int hf_lock_open(const hf_client* client, int kind, const char* name, const hf_options* options, hf_lock** lock) {
  return guarded([&] {
    const holdfast::LockOptions defaults = lock_options(options);
    auto& out = given(lock, "lock");
    out = new hf_lock{made(given(client, "client").client, kind, &given(name, "name"), defaults, permits_of(options)),
                      defaults.wait.has_value()};
  });
}

int hf_multi_open(hf_lock* const* members, size_t number, const hf_options* options, hf_lock** lock) {
  return open_several<holdfast::MultiLock, holdfast::Lock, holdfast::SimpleLock>(
      members, number, options, lock, "the members are not all HF_LOCK, nor all HF_SIMPLE");
}

int hf_red_open(hf_lock* const* members, size_t number, const hf_options* options, hf_lock** lock) {
  return open_several<holdfast::RedLock, holdfast::Lock, holdfast::SimpleLock, holdfast::MultiLock>(
      members, number, options, lock, "the members are not all HF_LOCK, nor all HF_SIMPLE, nor all several as one");
}

int hf_any_open(const hf_client* client, const char* const* names, size_t number, const hf_options* options,
                hf_lock** lock) {
  return guarded([&] {
    const holdfast::LockOptions defaults = lock_options(options);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < number; ++i) all.emplace_back(&given((&given(names, "names"))[i], "a name"));
    auto& out = given(lock, "lock");
    out = new hf_lock{given(client, "client").client.any_lock(all, defaults), defaults.wait.has_value()};
  });
}

void hf_lock_free(hf_lock* lock) { delete lock; }

const char* hf_lock_name(const hf_lock* lock) { return lock != nullptr ? lock->basic().name().c_str() : ""; }

int hf_lock_acquire(const hf_lock* lock, const hf_options* options, hf_hold** hold) {
  return guarded([&]() -> int {
    const hf_lock& from = given(lock, "lock");
    hf_hold*& out = given(hold, "hold");
    holdfast::MaybeHold granted = from.basic().try_acquire(waiting(from, options));
    if (!granted)
      return failed(not_granted(granted.reason().value_or(holdfast::NotGranted::busy), from.basic().name()));
    out = new hf_hold(*std::move(granted), from.writer());
    return HF_OK;
  });
}

int hf_lock_acquire_async(const hf_lock* lock, const hf_options* options, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const hf_lock& from = given(lock, "lock");
    start<Failure, holdfast::MaybeHold>(
        queue, tag, {.name = from.basic().name(), .writer = from.writer()}, [&](auto receiver) {
          return holdfast::detail::make_try_acquire(HandleAccess::parts(from.basic()), waiting(from, options),
                                                    std::move(receiver));
        });
  });
}

int hf_lock_adopt(const hf_lock* lock, const char* ticket, const hf_options* options, hf_hold** hold) {
  return guarded([&] {
    const hf_lock& from = given(lock, "lock");
    hf_hold*& out = given(hold, "hold");
    out = new hf_hold(from.key().adopt(&given(ticket, "ticket"), adopt_options(options)), from.writer());
  });
}

int hf_lock_adopt_async(const hf_lock* lock, const char* ticket, const hf_options* options, hf_queue* queue,
                        uint64_t tag) {
  return guarded([&] {
    const hf_lock& from = given(lock, "lock");
    const holdfast::AdoptOptions how = adopt_options(options);
    const std::string text = &given(ticket, "ticket");
    start<Failure, holdfast::Hold>(
        queue, tag, {.name = from.basic().name(), .writer = from.writer()}, [&](auto receiver) {
          return holdfast::detail::make_adopt(HandleAccess::parts(from.key()), text, how, std::move(receiver));
        });
  });
}

int hf_lock_is_locked(const hf_lock* lock, int* locked) {
  return guarded([&] { given(locked, "locked") = given(lock, "lock").key().is_locked() ? 1 : 0; });
}

int hf_lock_is_locked_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return ask<bool>(lock, queue, tag, [](const auto& parts, auto receiver) {
    return holdfast::detail::make_is_locked(parts, std::move(receiver));
  });
}

int hf_lock_is_held_by(const hf_lock* lock, const char* owner, int* held) {
  return guarded([&] { given(held, "held") = given(lock, "lock").key().is_held_by(&given(owner, "owner")) ? 1 : 0; });
}

int hf_lock_is_held_by_async(const hf_lock* lock, const char* owner, hf_queue* queue, uint64_t tag) {
  return ask<bool>(lock, queue, tag, [&](const auto& parts, auto receiver) {
    return holdfast::detail::make_is_held_by(parts, &given(owner, "owner"), std::move(receiver));
  });
}

int hf_lock_remaining(const hf_lock* lock, int64_t* remaining_ms) {
  return guarded([&] {
    const std::optional<std::chrono::milliseconds> left = given(lock, "lock").key().remaining();
    given(remaining_ms, "remaining_ms") = left ? left->count() : HF_UNSET;
  });
}

int hf_lock_remaining_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return ask<std::optional<std::chrono::milliseconds>>(lock, queue, tag, [](const auto& parts, auto receiver) {
    return holdfast::detail::make_remaining(parts, std::move(receiver));
  });
}

int hf_lock_info(const hf_lock* lock, char** json) {
  return guarded([&] {
    const holdfast::LockInfo info = given(lock, "lock").key().info();
    auto& out = given(json, "json");
    out = text_of(holdfast::json::line(holdfast::json::to_json(info)));
  });
}

int hf_lock_info_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return ask<holdfast::LockInfo>(lock, queue, tag, [](const auto& parts, auto receiver) {
    return holdfast::detail::make_info(parts, holdfast::InfoDetail::holder, std::move(receiver));
  });
}

int hf_lock_force_release(const hf_lock* lock, const char* owner, int* freed) {
  return guarded([&] {
    const holdfast::KeyLock& key = given(lock, "lock").key();
    const bool was = owner != nullptr ? key.force_release(std::string(owner)) : key.force_release();
    if (freed != nullptr) *freed = was ? 1 : 0;
  });
}

int hf_lock_force_release_async(const hf_lock* lock, const char* owner, hf_queue* queue, uint64_t tag) {
  return ask<bool>(lock, queue, tag, [&](const auto& parts, auto receiver) {
    return owner != nullptr ? holdfast::detail::make_force_release(parts, owner, std::move(receiver))
                            : holdfast::detail::make_force_release(parts, std::move(receiver));
  });
}

int hf_lock_ask_release(const hf_lock* lock, size_t* heard) {
  return guarded([&] {
    const std::size_t by = given(lock, "lock").key().ask_release();
    if (heard != nullptr) *heard = by;
  });
}

int hf_lock_ask_release_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return ask<std::size_t>(lock, queue, tag, [](const auto& parts, auto receiver) {
    return holdfast::detail::make_ask_release(parts, std::move(receiver));
  });
}

int hf_lock_latest_token(const hf_lock* lock, int64_t* token) {
  return guarded([&] { given(token, "token") = fenced_of(lock).latest_token(); });
}

int hf_permits_available(const hf_lock* lock, int64_t* permits) {
  return guarded(
      [&] { given(permits, "permits") = given(lock, "lock").as<holdfast::LeasedSemaphore>("HF_LEASED").available(); });
}

int hf_permits_available_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return count<std::int64_t>(lock, Counting::available_leased, 0, queue, tag);
}

int hf_permits_init(const hf_lock* lock, int64_t permits, int64_t lives_ms, int* set) {
  return guarded([&] {
    const auto& semaphore = given(lock, "lock").as<holdfast::LeasedSemaphore>("HF_LEASED");
    const bool made =
        lives_ms == HF_UNSET ? semaphore.init(permits) : semaphore.init(permits, std::chrono::milliseconds(lives_ms));
    if (set != nullptr) *set = made ? 1 : 0;
  });
}

int hf_permits_init_async(const hf_lock* lock, int64_t permits, hf_queue* queue, uint64_t tag) {
  return count<bool>(lock, Counting::init_leased, permits, queue, tag);
}

int hf_permits_set_total(const hf_lock* lock, int64_t permits, int64_t* now) {
  return guarded([&] {
    const std::int64_t free = given(lock, "lock").as<holdfast::LeasedSemaphore>("HF_LEASED").set_total(permits);
    if (now != nullptr) *now = free;
  });
}

int hf_permits_set_total_async(const hf_lock* lock, int64_t permits, hf_queue* queue, uint64_t tag) {
  return count<std::int64_t>(lock, Counting::set_total, permits, queue, tag);
}

int hf_permits_add(const hf_lock* lock, int64_t permits, int64_t* now) {
  return guarded([&] {
    const std::int64_t free = given(lock, "lock").as<holdfast::LeasedSemaphore>("HF_LEASED").add(permits);
    if (now != nullptr) *now = free;
  });
}

int hf_permits_add_async(const hf_lock* lock, int64_t permits, hf_queue* queue, uint64_t tag) {
  return count<std::int64_t>(lock, Counting::add_leased, permits, queue, tag);
}

int hf_permits_remove(const hf_lock* lock, int* removed) {
  return guarded([&] {
    const bool was = given(lock, "lock").as<holdfast::LeasedSemaphore>("HF_LEASED").remove();
    if (removed != nullptr) *removed = was ? 1 : 0;
  });
}

int hf_permits_remove_async(const hf_lock* lock, hf_queue* queue, uint64_t tag) {
  return count<bool>(lock, Counting::remove_leased, 0, queue, tag);
}
