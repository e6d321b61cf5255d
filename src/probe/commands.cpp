// SPDX-License-Identifier: Apache-2.0
#include "probe/commands.hpp"

namespace holdfast::probing {
namespace {

constexpr NeededCommand kCommands[] = {
    {"evalsha", Need::lock, "everything", "0000000000000000000000000000000000000000 0", true},
    {"eval", Need::lock, "everything", "return(1) 0", true},
    {"pttl", Need::lock, "acquire", "KEY", true},
    {"hexists", Need::lock, "acquire, renew", "KEY field", true},
    {"hset", Need::lock, "acquire", "KEY field 1", false},
    {"pexpire", Need::lock, "acquire, renew", "KEY 1", false},
    {"hdel", Need::lock, "release", "KEY field", false},
    {"publish", Need::lock, "release", "CHANNEL 0", false},
    {"subscribe", Need::lock, "waiting", "CHANNEL", false},
    {"unsubscribe", Need::lock, "waiting", "CHANNEL", false},
    {"ping", Need::lock, "idle connections", "", true},
    {"get", Need::simple, "SimpleLock", "KEY", true},
    {"set", Need::simple, "SimpleLock", "KEY value", false},
    {"incr", Need::feature, "FencedLock", "KEY", false},
    {"time", Need::feature, "FairLock", "", true},
    {"exists", Need::feature, "FairLock; ReadWriteLock in a cluster whose slots move", "KEY", true},
    {"hget", Need::feature, "ReadWriteLock of many readers", "KEY field", true},
    {"hscan", Need::feature, "ReadWriteLock of many readers", "KEY 0", true},
    {"lindex", Need::feature, "FairLock", "KEY 0", true},
    {"lrange", Need::feature, "FairLock", "KEY 0 0", true},
    {"lpop", Need::feature, "FairLock", "KEY", false},
    {"lrem", Need::feature, "FairLock", "KEY 0 owner", false},
    {"rpush", Need::feature, "FairLock", "KEY owner", false},
    {"zscore", Need::feature, "FairLock", "KEY owner", true},
    {"zrank", Need::feature, "FairLock", "KEY owner", true},
    {"zrange", Need::feature, "FairLock", "KEY 0 0", true},
    {"zadd", Need::feature, "FairLock", "KEY 1 owner", false},
    {"zrem", Need::feature, "FairLock", "KEY owner", false},
    {"llen", Need::feature, "FairLock: who waits", "KEY", true},
    {"incrby", Need::feature, "Semaphore, LeasedSemaphore", "KEY 1", false},
    {"decrby", Need::feature, "Semaphore, LeasedSemaphore, Latch", "KEY 1", false},
    {"zrangebyscore", Need::feature, "LeasedSemaphore", "KEY 0 0", true},
    {"zcount", Need::feature, "LeasedSemaphore", "KEY 0 0", true},
    {"zcard", Need::feature, "LeasedSemaphore", "KEY", true},
    {"strlen", Need::feature, "list of SimpleLocks, semaphores and latches", "KEY", true},
    {"del", Need::simple, "SimpleLock", "KEY", false},
    {"client list", Need::some, "ending the old connection after a reconnect; who holds a lock", "ID 1", true},
    {"client kill", Need::some, "ending the old connection after a reconnect", "ID 1", false},
    {"hlen", Need::some, "what is no lock is not taken for one; is_locked, info, list, force_release", "KEY", true},
    {"hgetall", Need::some, "what is no lock is not taken for one; is_locked, info, list, force_release", "KEY", true},
    {"type", Need::some, "errors say what is there in place of a lock", "KEY", true},
    {"scan", Need::some, "list", "0 COUNT 1", true},
    {"info", Need::some, "RedLock: the same server twice; who holds a lock", "server", true},
    {"pubsub numsub", Need::some, "the order among those who wait, and how many do", "CHANNEL", true},
    {"script load", Need::some, "one command less for a new connection", "return(1)", false},
    {"wait", Need::feature, "acks", "0 0", true},
    {"waitaof", Need::feature, "acks=aof", "0 0 0", true},
    {"hello", Need::feature, "RESP3", "", true},
    {"client tracking", Need::feature, "loss_notice", "OFF", true},
    {"multi", Need::feature, "loss_notice: renewals that cost less", "", false},
    {"exec", Need::feature, "loss_notice: renewals that cost less", "", false},
    {"spublish", Need::feature, "sharded channels", "CHANNEL 0", false},
    {"ssubscribe", Need::feature, "sharded channels", "CHANNEL", false},
    {"sunsubscribe", Need::feature, "sharded channels", "CHANNEL", false},
    {"pubsub shardnumsub", Need::feature, "sharded channels: the order among those who wait", "CHANNEL", false},
    {"cluster slots", Need::feature, "a cluster: which server has which lock", "", false},
    {"asking", Need::feature, "a cluster whose slots are under way", "", false},
};

}  // namespace

std::span<const NeededCommand> needed_commands() { return kCommands; }

}  // namespace holdfast::probing
