// What a connection says of itself in its name, and what CLIENT LIST shows of others.
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

/// `prefix:client:host:process:label`, in what CLIENT SETNAME takes (`!` to `~`): other bytes of host and label, `%`
/// and
/// `:` are written `%XX`. A host or label that takes more than 64 bytes so is cut after a whole character.
std::string connection_name(std::string_view prefix, const Identity& identity);
/// Empty: not of this form. The prefix may be anything.
std::optional<Identity> parse_connection_name(std::string_view name);

/// A connection as the server shows it. Everybody chooses their own name, so nothing of the identity is certain.
struct Connection {
  Identity identity;
  std::string address;
  std::chrono::seconds age{};
};
/// By the client's UUID.
using Connections = std::map<std::string, Connection, std::less<>>;

base::Command count_connections();  ///< INFO
/// True if CLIENT LIST costs next to nothing there. False as well if the server does not tell.
bool are_few_connections(const base::Reply& info);
base::Command list_connections();  ///< CLIENT LIST
/// Those that have a name of the form above; of two with the same client the younger. Empty: the server does not tell.
std::optional<Connections> decode_connections(const base::Reply& reply);

}  // namespace holdfast::wire
