// SPDX-License-Identifier: Apache-2.0
#include "kinds/read_write_lock.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::read_write {

using namespace std::chrono_literals;
namespace {

constexpr std::string_view kWrite = ":write";

std::string write_field(std::string_view owner) { return std::string(owner).append(kWrite); }

/// The same call data works for both sides' scripts; there are no scripts for several locks.
constexpr LockScripts kRead{scripts::read_write_acquire_read, scripts::read_write_acquire_read,
                            scripts::read_write_release_read, scripts::read_write_release_read,
                            scripts::read_write_force_release};
constexpr LockScripts kWriteSide{scripts::read_write_acquire_write, scripts::read_write_acquire_write,
                                 scripts::read_write_release_write, scripts::read_write_release_write,
                                 scripts::read_write_force_release};

/// The hold by itself; it says nothing as long as the lock has no field for it, so it comes first. Then the rest.
std::vector<base::Command> hold_then_lock(const base::Command& command) {
  return {{{"SET", command.args.at(2), "1", "PX", command.args.at(3)}}, with_first_key(command)};
}

/// The hold that is left ends by itself.
std::vector<base::Command> lock_alone(const base::Command& command) { return {with_first_key(command)}; }

/// Adds the key of the hold after the lock's key.
base::Command with_hold(base::Command command, std::string_view key, const Owner& owner) {
  command.args.front() = std::to_string(2);
  command.args.insert(command.args.begin() + 2, hold_key(key, owner.text));
  return command;
}

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = prefixed("redisson_rwlock", raw_name);
  return {std::move(raw_name), std::move(channel)};
}

std::string hold_key(std::string_view key, std::string_view owner) {
  return suffixed(key, std::string(owner).append(":rwlock_timeout:1"));
}

base::Command acquire_read(const AcquireCall& call) {
  base::Command command = with_hold(wire::acquire(kRead, call), call.names.front().key, call.owner);
  command.pieces = hold_then_lock;
  return command;
}
base::Command acquire_write(const AcquireCall& call) { return wire::acquire(kWriteSide, call); }

AcquireReply decode_acquire(const base::Reply& reply) {
  const bool has_two = reply.is_array() && reply.elements.size() == 2;
  if (!has_two || reply.elements[0].integer != -2 || !reply.elements[1].is_integer())
    return wire::decode_acquire(reply);
  AcquireReply granted{true, std::nullopt};
  granted.listeners = believable(reply.elements[1].integer);
  return granted;
}

base::Command release_read(const ReleaseCall& call) {
  base::Command command = with_hold(wire::release(kRead, call), call.names.front().key, call.owner);
  command.pieces = lock_alone;
  return command;
}
base::Command release_write(const ReleaseCall& call) { return wire::release(kWriteSide, call); }

base::Command downgrade(const DowngradeCall& call) {
  base::Command command = base::Command::call(
      scripts::read_write_downgrade, "2", call.names.key, hold_key(call.names.key, call.reader.text),
      std::to_string(call.lease.count()), call.writer.text, call.reader.text, call.names.channel);
  add_way(command, call.publish);
  command.pieces = hold_then_lock;
  return command;
}

base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  base::Command command{{}, &scripts::read_write_renew};
  command.args.reserve(2 + 3 * renewals.size());
  command.args.emplace_back();
  for (const Renewal& renewal : renewals) command.args.push_back(renewal.key);
  // A writer has no hold of its own, and a key that is nowhere cannot be named while its slot moves.
  for (const Renewal& renewal : renewals) {
    if (renewal.mode == Mode::shared) command.args.push_back(hold_key(renewal.key, renewal.owner));
  }
  command.args.front() = std::to_string(command.args.size() - 1);
  if (renewals.size() == 1 && command.args.size() == 3) command.pieces = hold_then_lock;
  command.args.push_back(std::to_string(lease.count()));
  for (const Renewal& renewal : renewals) {
    command.args.push_back(renewal.mode == Mode::shared ? renewal.owner : write_field(renewal.owner));
  }
  return command;
}

base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish publish) {
  return wire::force_release(kRead, names, owner, publish);
}

base::Command has_mode(std::string_view key) { return {{"HEXISTS", std::string(key), "mode"}}; }
base::Command has_reader(std::string_view key, std::string_view owner) {
  return {{"HEXISTS", std::string(key), std::string(owner)}};
}
base::Command has_writer(std::string_view key, std::string_view owner) {
  return {{"HEXISTS", std::string(key), write_field(owner)}};
}

base::Command holders(std::string_view key) {
  return base::Command::call(scripts::read_write_look, "1", std::string(key));
}

Holders decode_holders(const base::Reply& reply) {
  Holders holders;
  if (!reply.is_array() || reply.elements.size() % 3 != 2) return {};
  for (std::size_t i = 2; i < reply.elements.size(); i += 3) {
    std::string_view field = reply.elements[i].text;
    const bool writes = field.ends_with(kWrite);
    if (writes) field.remove_suffix(kWrite.size());
    const auto count = base::to_number<long long>(reply.elements[i + 1].text);
    if (!looks_like_owner(field) || count.value_or(0) < 1 || !reply.elements[i + 2].is_integer()) return {};
    Hold hold{std::string(field), *count, std::chrono::milliseconds(reply.elements[i + 2].integer)};
    if (writes) {
      holders.writer = std::move(hold);
    } else {
      holders.readers.push_back(std::move(hold));
    }
  }
  return holders;
}

Held decode_holder(const base::Reply& reply) {
  std::vector<Held> all = decode_all(reply);
  return all.empty() ? Held() : std::move(all.front());
}

std::vector<Held> decode_all(const base::Reply& reply) {
  Holders holders = decode_holders(reply);
  std::vector<Held> all;
  if (holders.writer) all.push_back({std::move(holders.writer->owner), holders.writer->count});
  for (Hold& reader : holders.readers) {
    Held held{std::move(reader.owner), reader.count, Mode::shared};
    // The key of a hold may have lost its expiry; below that the hold is over.
    if (reader.left != -1ms) held.left = std::max(reader.left, 0ms);
    all.push_back(std::move(held));
  }
  return all;
}

}  // namespace holdfast::wire::read_write

namespace holdfast::kinds {
namespace {

namespace rw = wire::read_write;

bool reads(const wire::Owner& owner) { return owner.ask.mode == wire::Mode::shared; }

}  // namespace

const engine::Plan kReadWriteLock{
    .traits = {.holders = engine::Traits::Holders::readers},
    .transitions = {.names = rw::names,
                    .acquire =
                        [](const wire::AcquireCall& call) {
                          return reads(call.owner) ? rw::acquire_read(call) : rw::acquire_write(call);
                        },
                    .decode_acquire = rw::decode_acquire,
                    .release =
                        [](const wire::ReleaseCall& call) {
                          return reads(call.owner) ? rw::release_read(call) : rw::release_write(call);
                        },
                    .renew = rw::renew,
                    .force_release = [](const wire::LockNames& names, const std::optional<wire::Owner>& owner,
                                        Publish publish) { return rw::force_release(names, owner, publish); },
                    .share =
                        [](const wire::ShareCall& call) {
                          return rw::downgrade({call.names, call.owner, call.owner, call.lease, call.publish});
                        }},
    .questions = {.ask_owner =
                      [](std::string_view key, const wire::Owner& owner) {
                        return reads(owner) ? rw::has_reader(key, owner.text) : rw::has_writer(key, owner.text);
                      },
                  .holder = rw::holders,
                  .decode_holder = rw::decode_holder,
                  .decode_holders = rw::decode_all},
};

}  // namespace holdfast::kinds
