// SPDX-License-Identifier: Apache-2.0
// What a connection's name says about it, and what CLIENT LIST shows about other connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/resp.hpp"

namespace holdfast::wire {

/// Whose a connection is.
struct Identity {
  std::string client;  ///< The client's UUID, the part of its owners before the colon.
  std::string host;
  std::int64_t process = 0;
  std::string label;
};

/// `prefix:client:host:process:label`, in the bytes that CLIENT SETNAME accepts (`!` to `~`): other bytes of host and
/// label, `%` and
/// `:` are written `%XX`. A host or label that would exceed 64 bytes is cut after a whole character.
std::string connection_name(std::string_view prefix, const Identity& identity);
/// Empty: not of this form. The prefix may be anything.
std::optional<Identity> parse_connection_name(std::string_view name);

/// A connection as the server shows it. Every client chooses its own name, so the identity is not certain.
struct Connection {
  Identity identity;
  std::string address;
  std::chrono::seconds age{};
};
/// By the client's UUID.
using Connections = std::map<std::string, Connection, std::less<>>;

base::Command count_connections();  ///< INFO
/// True if CLIENT LIST is cheap there. Also false if the server does not say.
bool are_few_connections(const base::Reply& info);
base::Command list_connections();  ///< CLIENT LIST
/// Connections with a name of the form above; of two with the same client, the younger. Empty: the server does not say.
std::optional<Connections> decode_connections(const base::Reply& reply);

}  // namespace holdfast::wire
