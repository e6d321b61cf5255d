// SPDX-License-Identifier: Apache-2.0
#include "probe/reading.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::probing {
namespace {

/// No server reports more, in bytes or milliseconds; a hundred times that still fits.
bool is_sensible(long long value) {
  constexpr long long kLargest = 10'000'000'000'000'000;
  return value >= -kLargest && value <= kLargest;
}

/// The number that a text begins with; empty if there is none, or it is implausible.
std::optional<long long> read_number(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() || !is_sensible(value)) return std::nullopt;
  return value;
}

/// The parts of a text between separators, which may be empty.
template <class Use>
void for_each_part(std::string_view text, char separator, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Those of a server have some hundred.
constexpr std::size_t kMostFields = 4096;

void put(Fields& fields, std::string_view part, char separator) {
  if (fields.size() == kMostFields) return;
  const std::size_t at = part.find(separator);
  if (at == std::string_view::npos || at == 0) return;
  std::string_view value = part.substr(at + 1);
  if (value.ends_with('\r') || value.ends_with('\n')) value.remove_suffix(1);
  fields.insert_or_assign(std::string(part.substr(0, at)), std::string(value));
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

long long integer_of(const base::Reply& reply) {
  if (reply.is_text()) return read_number(reply.text).value_or(0);
  return is_sensible(reply.integer) ? reply.integer : 0;
}

}  // namespace

std::string_view text_of(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<long long> number_of(const Fields& fields, std::string_view name) {
  return read_number(text_of(fields, name));
}

Fields read_info(std::string_view text) {
  Fields fields;
  for_each_part(text, '\n', [&](std::string_view line) {
    if (!line.starts_with('#')) put(fields, line, ':');
  });
  return fields;
}

Fields read_client_info(std::string_view line) {
  Fields fields;
  for_each_part(line, ' ', [&](std::string_view word) { put(fields, word, '='); });
  return fields;
}

Fields read_pairs(const base::Reply& flat_array) {
  Fields fields;
  const std::vector<base::Reply>& parts = flat_array.elements;
  for (std::size_t i = 0; i + 1 < parts.size() && fields.size() < kMostFields; i += 2) {
    const base::Reply& value = parts[i + 1];
    if (value.is_array()) continue;
    fields.insert_or_assign(parts[i].text, value.is_integer() ? std::to_string(value.integer) : value.text);
  }
  return fields;
}

Role read_role(const base::Reply& reply) {
  Role role;
  const std::vector<base::Reply>& parts = reply.elements;
  if (!reply.is_array() || parts.empty()) return role;
  role.name = parts[0].text;
  if (role.name == "master" && parts.size() >= 3) {
    role.offset = integer_of(parts[1]);
    for (const base::Reply& each : parts[2].elements) {
      if (each.elements.size() < 3) continue;
      role.replicas.push_back({each.elements[0].text, to_port(each.elements[1].text), integer_of(each.elements[2])});
    }
  }
  if (role.name == "slave" && parts.size() >= 5) {
    role.primary_host = parts[1].text;
    role.primary_port = static_cast<std::uint16_t>(std::clamp<long long>(integer_of(parts[2]), 0, 65535));
    role.link = parts[3].text;
    role.offset = integer_of(parts[4]);
  }
  return role;
}

SlowScripts read_slow_log(const base::Reply& reply) {
  SlowScripts slow;
  for (const base::Reply& entry : reply.elements) {
    if (entry.elements.size() < 4 || entry.elements[3].elements.empty()) continue;
    const std::string& command = entry.elements[3].elements.front().text;
    if (!equal_ignoring_case(command, "evalsha") && !equal_ignoring_case(command, "eval")) continue;
    ++slow.count;
    slow.longest = std::max(slow.longest, microseconds(integer_of(entry.elements[2])));
  }
  return slow;
}

std::string host_port(std::string_view host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  std::string text;
  text.append(is_v6 ? "[" : "").append(host).append(is_v6 ? "]:" : ":").append(std::to_string(port));
  return text;
}

std::uint16_t to_port(std::string_view text) {
  const std::optional<long long> number = read_number(text);
  return number && *number > 0 && *number <= 65535 ? static_cast<std::uint16_t>(*number) : std::uint16_t{0};
}

Access read_access(const base::Reply& reply) {
  const std::string& text = reply.text;
  // ACL DRYRUN, and a script that catches errors, report a refusal as plain text.
  const Errc code = redis::classify(text).code;
  if (code == Errc::denied) return refuses_name(text) ? Access::other_names : Access::denied;
  if (!reply.is_error()) return Access::allowed;
  const bool gone = code == Errc::unsupported_by_server ||
                    (base::contains(text, "ommand") && base::contains(text, "not found")) ||
                    base::contains(text, "nknown subcommand") || base::contains(text, "not supported") ||
                    base::contains(text, "unsupported");
  return gone ? Access::missing : Access::allowed;
}

bool refuses_name(std::string_view text) {
  return base::contains(text, " key") || base::contains(text, " channel") || base::contains(text, "keys");
}

std::optional<std::vector<std::string>> read_key_patterns(const base::Reply& user) {
  std::optional<std::vector<std::string>> patterns;
  for (std::size_t i = 0; i + 1 < user.elements.size(); i += 2) {
    const base::Reply& value = user.elements[i + 1];
    if (user.elements[i].text == "selectors" && !value.elements.empty()) return std::nullopt;
    if (user.elements[i].text != "keys") continue;
    patterns.emplace();
    for (const base::Reply& each : value.elements) patterns->push_back(each.text);  // before Redis 7
    for_each_part(value.text, ' ', [&](std::string_view word) {
      if (word.starts_with("%RW~") || word.starts_with('~')) patterns->emplace_back(word.substr(word.find('~') + 1));
    });
  }
  const auto is_odd = [](const std::string& pattern) { return name_like(pattern).empty(); };
  return patterns && std::ranges::any_of(*patterns, is_odd) ? std::nullopt : patterns;
}

std::string name_like(std::string_view pattern) {
  std::string name;
  for (const char c : pattern) {
    if (c == '[' || c == '\\') return {};
    if (c == '*') {
      name += kTrialName;
    } else {
      name += c == '?' ? 'x' : c;
    }
  }
  return name;
}

std::string in_words(std::string_view error) {
  constexpr std::size_t kMostShown = 1000;
  error = error.substr(0, error.find(", with args beginning with"));
  return base::printable(error.substr(0, std::min(error.find_first_of("\r\n"), kMostShown)));
}

}  // namespace holdfast::probing
