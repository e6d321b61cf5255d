// SPDX-License-Identifier: Apache-2.0
// Kinds of locks that only the tests of the engine's seams have: each needs one thing that the real ones do without.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"
#include "kinds/plan.hpp"
#include "support/raw.hpp"

namespace holdfast::test::trial {

/// A script that is not embedded; the server says what its hash is.
class Script {
 public:
  Script(std::string_view name, std::string_view text) : script_{name, text, {}} {}
  void load(Raw& raw) {
    hash_ = raw.command("SCRIPT", "LOAD", script_.text).text;
    script_.sha1 = hash_;
  }
  base::Command call(std::vector<std::string> keys, const std::vector<std::string>& arguments) const {
    base::Command command{{std::to_string(keys.size())}, &script_};
    for (std::string& key : keys) command.args.push_back(std::move(key));
    command.args.insert(command.args.end(), arguments.begin(), arguments.end());
    return command;
  }

 private:
  base::Script script_;
  std::string hash_;
};

inline std::string text(std::chrono::milliseconds time) { return std::to_string(time.count()); }

// ---- fenced: each grant has a number ----

inline Script fenced_acquire{"trial/fenced_acquire", R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {redis.call('PTTL', KEYS[1]), -1}
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {-1, redis.call('INCR', KEYS[2])}
)lua"};

inline const engine::Plan kFenced = [] {
  engine::Plan plan = kinds::kLock;
  plan.traits.passable = false;
  plan.transitions.acquire = [](const wire::AcquireCall& call) {
    const std::string& key = call.names.front().key;
    return fenced_acquire.call({key, key + ":token"}, {text(call.lease), call.owner.text});
  };
  plan.transitions.decode_acquire = [](const base::Reply& reply) {
    if (!reply.is_array() || reply.elements.size() != 2) return wire::AcquireReply{};
    wire::AcquireReply said;
    said.granted = reply.elements[1].integer != -1;
    if (said.granted) said.grant.token = reply.elements[1].integer;
    if (!said.granted) said.busy_for = std::chrono::milliseconds(reply.elements[0].integer);
    return said;
  };
  return plan;
}();

/// The same, but it may be passed on.
inline const engine::Plan kPassedOn = [] {
  engine::Plan plan = kFenced;
  plan.traits.passable = true;
  return plan;
}();

// ---- named: the server says what the owner is called, and for how long it has it ----

inline Script named_acquire{"trial/named_acquire", R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'guest', 1)
redis.call('PEXPIRE', KEYS[1], 900)
return {'guest', 900}
)lua"};

inline const engine::Plan kNamed = [] {
  engine::Plan plan = kinds::kLock;
  plan.traits.passable = false;
  plan.transitions.acquire = [](const wire::AcquireCall& call) {
    return named_acquire.call({call.names.front().key}, {});
  };
  plan.transitions.decode_acquire = [](const base::Reply& reply) {
    if (!reply.is_array() || reply.elements.size() != 2) return wire::decode_acquire(reply);
    wire::AcquireReply said;
    said.granted = true;
    said.grant.owner.text = reply.elements[0].text;
    said.grant.lease = std::chrono::milliseconds(reply.elements[1].integer);
    return said;
  };
  return plan;
}();

// ---- queue: the server keeps those who wait in order, and wakes the first on a channel of its own ----

inline Script queue_acquire{"trial/queue_acquire", R"lua(
local head = redis.call('LINDEX', KEYS[2], 0)
if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[2]) then
  redis.call('LREM', KEYS[2], 0, ARGV[2])
  redis.call('HSET', KEYS[1], ARGV[2], 1)
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if not redis.call('LPOS', KEYS[2], ARGV[2]) then
  redis.call('RPUSH', KEYS[2], ARGV[2])
end
return redis.call('PTTL', KEYS[1])
)lua"};

inline Script queue_release{"trial/queue_release", R"lua(
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local head = redis.call('LINDEX', KEYS[2], 0)
return head and redis.call('PUBLISH', ARGV[2] .. ':' .. head, '0') or 0
)lua"};

inline Script queue_leave{"trial/queue_leave", R"lua(
return redis.call('LREM', KEYS[1], 0, ARGV[1])
)lua"};

inline std::string queue_of(const std::string& key) { return key + ":queue"; }

/// None of its waiters leaves.
inline const engine::Plan kQueueForEver = [] {
  engine::Plan plan = kinds::kLock;
  plan.traits.passable = false;
  plan.transitions.acquire = [](const wire::AcquireCall& call) {
    const std::string& key = call.names.front().key;
    return queue_acquire.call({key, queue_of(key)}, {text(call.lease), call.owner.text});
  };
  plan.transitions.release = [](const wire::ReleaseCall& call) {
    const wire::LockNames& names = call.names.front();
    return queue_release.call({names.key, queue_of(names.key)}, {call.owner.text, names.channel});
  };
  plan.transitions.wake_channel = [](const wire::LockNames& names, const wire::Owner& waiter) {
    return names.channel + ":" + waiter.text;
  };
  return plan;
}();

inline const engine::Plan kQueue = [] {
  engine::Plan plan = kQueueForEver;
  plan.transitions.leave = [](const wire::LeaveCall& call) {
    return queue_leave.call({queue_of(call.names.front().key)}, {call.owner.text});
  };
  return plan;
}();

// ---- permits: each acquire counts down, each release up ----

inline Script permits_acquire{"trial/permits_acquire", R"lua(
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then
  return nil
end
if tonumber(redis.call('GET', KEYS[1]) or '0') <= 0 then
  return -1
end
redis.call('DECR', KEYS[1])
if KEYS[2] then
  redis.call('SET', KEYS[2], 1, 'PX', ARGV[1])
end
return nil
)lua"};

inline Script permits_release{"trial/permits_release", R"lua(
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then
  return 0
end
if KEYS[3] and redis.call('EXISTS', KEYS[3]) == 0 then
  return nil
end
redis.call('INCR', KEYS[1])
if KEYS[2] then
  redis.call('SET', KEYS[2], 1, 'PX', ARGV[2])
end
return redis.call('PUBLISH', ARGV[1], '0')
)lua"};

/// Nothing expires.
inline Script permits_renew{"trial/permits_renew", "return {}"};

inline const engine::Plan kPermits = [] {
  engine::Plan plan = kinds::kLock;
  plan.traits = {
      .reentrant = false, .holders = engine::Traits::Holders::several, .passable = false, .repeatable = false};
  plan.transitions.acquire = [](const wire::AcquireCall& call) {
    const std::string& key = call.names.front().key;
    if (!call.once) return permits_acquire.call({key}, {});
    return permits_acquire.call({key, key + ":" + call.once->key}, {text(call.once->remembered)});
  };
  plan.transitions.release = [](const wire::ReleaseCall& call) {
    const auto& [key, channel] = call.names.front();
    if (!call.once) return permits_release.call({key}, {channel});
    std::vector<std::string> keys{key, key + ":" + call.once->key};
    if (!call.undoes.empty()) keys.push_back(key + ":" + call.undoes);
    return permits_release.call(std::move(keys), {channel, text(call.once->remembered)});
  };
  plan.transitions.renew = [](const std::vector<wire::Renewal>&, std::chrono::milliseconds) {
    return permits_renew.call({}, {});
  };
  return plan;
}();

/// The same, called repeatable, which it is not.
inline const engine::Plan kMiscounted = [] {
  engine::Plan plan = kPermits;
  plan.traits.repeatable = true;
  return plan;
}();

inline void load_scripts(Raw& raw) {
  for (Script* script : {&fenced_acquire, &named_acquire, &queue_acquire, &queue_release, &queue_leave,
                         &permits_acquire, &permits_release, &permits_renew}) {
    script->load(raw);
  }
}

}  // namespace holdfast::test::trial
