// SPDX-License-Identifier: Apache-2.0
// Queries about a server, or about a key of any kind.
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
/// Unique to this run of the server; empty if it does not say.
std::string decode_run_id(const base::Reply& reply);

/// Answered when this many replicas have this connection's writes, or after that time, which must not be 0: with the
/// number of replicas that have them.
base::Command wait(int replicas, std::chrono::milliseconds time);
/// The same for the primary's own append-only file.
base::Command wait_aof(std::chrono::milliseconds time);
/// For both; empty: the reply is invalid.
std::optional<long long> decode_acks(const base::Reply& reply);
base::Command replication_info();  ///< INFO
/// How many replicas are connected; empty if it does not say.
std::optional<int> decode_replicas(const base::Reply& reply);

base::Command remaining(std::string_view key);  ///< PTTL
/// Empty: the key is absent or has no expiry, or the server refuses to say. Throws std::runtime_error if it is no
/// number.
std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl);

/// The channel on which the holders of a lock hear that somebody asks for it.
std::string asked_channel(std::string_view key);
/// PUBLISH on it; a PTTL before it says to the client which server that is of.
std::vector<base::Command> ask_release(std::string_view key);
/// How many connections have heard it. Throws std::runtime_error for what is no number.
std::size_t decode_asked(const std::vector<base::Reply>& replies);

/// PUBSUB NUMSUB, or with `sharded` SHARDNUMSUB: how many connections listen on each channel.
base::Command listeners(const std::vector<std::string>& channels, bool sharded);
/// For the channel at this index; empty if it is not in the reply.
std::optional<std::uint64_t> decode_listeners(const base::Reply& reply, std::size_t place);

/// A pattern for SCAN that matches only this text.
std::string literal_pattern(std::string_view text);
/// Keys of a type, such as `hash`, whose names match; each call returns some.
base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count,
                   std::string_view type = "hash");
base::Command length(std::string_view key);  ///< STRLEN

}  // namespace holdfast::wire
