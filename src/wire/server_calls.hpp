// What is asked of a server, or of a key of whatever kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"

namespace holdfast::wire {

base::Command server_info();  ///< INFO
/// What no other run of a server has; empty if it does not tell.
std::string decode_run_id(const base::Reply& reply);

/// To be answered once so many replicas have what this connection has written, or when the time, which is not 0, is
/// over: with how many have it.
base::Command wait(int replicas, std::chrono::milliseconds time);
/// The same of the primary's own append-only file.
base::Command wait_aof(std::chrono::milliseconds time);
/// Of either; empty: a reply that makes no sense.
std::optional<long long> decode_acks(const base::Reply& reply);
base::Command replication_info();  ///< INFO
/// How many replicas are connected; empty if it does not tell.
std::optional<int> decode_replicas(const base::Reply& reply);

base::Command remaining(std::string_view key);  ///< PTTL
/// Empty: the key is absent or has no expiry.
std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl);

/// PUBSUB NUMSUB, or with `sharded` SHARDNUMSUB: how many connections listen on each channel.
base::Command listeners(const std::vector<std::string>& channels, bool sharded);
/// Of the channel at this place; empty if it is not told.
std::optional<std::uint64_t> decode_listeners(const base::Reply& reply, std::size_t place);

/// A pattern for SCAN that this text matches, and nothing else.
std::string literal_pattern(std::string_view text);
/// Keys of a type, such as `hash`, whose names match, some for each call.
base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count,
                   std::string_view type = "hash");
base::Command length(std::string_view key);  ///< STRLEN

}  // namespace holdfast::wire
