// SPDX-License-Identifier: Apache-2.0
#include "kinds/connection_name.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "kinds/owner.hpp"

namespace holdfast::wire {
namespace {

/// For a host or a label, escapes included.
constexpr std::size_t kLongestPart = 64;
/// Listing takes the server about 1 us for each.
constexpr std::int64_t kFewConnections = 1000;
/// For one UTF-8 character, escaped.
constexpr std::size_t kLongestCharacter = 12;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

std::string escaped(std::string_view text) {
  const char* digits = "0123456789ABCDEF";
  std::string out;
  std::string character;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= '!' && byte <= '~' && byte != '%' && byte != ':') {
      character += text[i];
    } else {
      character.append({'%', digits[byte >> 4U], digits[byte & 0xfU]});
    }
    const bool goes_on = i + 1 < text.size() && continues_character(text[i + 1]);
    if (goes_on && character.size() < kLongestCharacter) continue;
    if (out.size() + character.size() > kLongestPart) break;
    out += character;
    character.clear();
  }
  return out;
}

/// Removes the last field and the colon before it, and returns the field.
std::string_view take_last(std::string_view& fields) {
  const std::size_t colon = fields.rfind(':');
  const std::string_view last = fields.substr(colon == fields.npos ? 0 : colon + 1);
  fields = fields.substr(0, colon == fields.npos ? 0 : colon);
  return last;
}

/// A field of a line of CLIENT LIST; empty if there is none.
std::string_view field(std::string_view line, std::string_view key) {
  const std::size_t found = line.find(key);
  if (found == line.npos) return {};
  line.remove_prefix(found + key.size());
  return line.substr(0, line.find(' '));
}

std::optional<Connection> decode_line(std::string_view line) {
  const std::optional<Identity> identity = parse_connection_name(field(line, " name="));
  if (!identity) return std::nullopt;
  Connection connection{*identity, std::string(field(line, " addr=")), {}};
  const auto age = base::to_number<std::int64_t>(field(line, " age="));
  if (age.value_or(-1) >= 0) connection.age = std::chrono::seconds(*age);
  return connection;
}

}  // namespace

std::string connection_name(std::string_view prefix, const Identity& identity) {
  return std::string(prefix) + ":" + identity.client + ":" + escaped(identity.host) + ":" +
         std::to_string(identity.process) + ":" + escaped(identity.label);
}

std::optional<Identity> parse_connection_name(std::string_view name) {
  const std::string_view label = take_last(name);
  const std::string_view process = take_last(name);
  const std::string_view host = take_last(name);
  const std::string_view client = take_last(name);
  if (!is_uuid(client) || label.size() > kLongestPart || host.size() > kLongestPart) return std::nullopt;
  Identity identity{std::string(client), {}, 0, {}};
  std::optional<std::string> its_host = base::percent_decoded(host);
  std::optional<std::string> its_label = base::percent_decoded(label);
  const auto its_process = base::to_number<std::int64_t>(process);
  if (!its_host || !its_label || its_process.value_or(-1) < 0) return std::nullopt;
  identity.process = *its_process;
  identity.host = std::move(*its_host);
  identity.label = std::move(*its_label);
  return identity;
}

base::Command count_connections() { return {{"INFO", "clients"}}; }

bool are_few_connections(const base::Reply& info) {
  constexpr std::string_view kField = "connected_clients:";
  const std::size_t found = info.is_text() ? info.text.find(kField) : std::string::npos;
  if (found == std::string::npos) return false;
  std::int64_t count = kFewConnections + 1;
  std::from_chars(info.text.data() + found + kField.size(), info.text.data() + info.text.size(), count);
  return count <= kFewConnections;
}

base::Command list_connections() { return {{"CLIENT", "LIST"}}; }

std::optional<Connections> decode_connections(const base::Reply& reply) {
  if (!reply.is_text()) return std::nullopt;
  // No server has more clients.
  constexpr std::size_t kMost = 1U << 16U;
  Connections connections;
  for (std::string_view rest = reply.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::optional<Connection> connection = decode_line(line);
    if (!connection) continue;
    if (connections.size() == kMost) return std::nullopt;
    const auto [known, is_new] = connections.try_emplace(connection->identity.client, *connection);
    if (!is_new && connection->age < known->second.age) known->second = std::move(*connection);
  }
  return connections;
}

}  // namespace holdfast::wire
