#include "redis/sentinel/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"

namespace holdfast::redis::sentinel {
namespace {

std::optional<NodeAddress> read_address(std::string_view host, std::string_view port) {
  const auto number = base::to_number<std::uint16_t>(port);
  if (!base::can_be_host(host) || number.value_or(0) == 0) return {};
  return NodeAddress{std::string(host), *number};
}

/// The number of replicas among the fields of a primary, as names and values.
std::optional<int> read_replicas(const base::Reply& fields) {
  for (std::size_t i = 0; i + 1 < fields.elements.size(); i += 2) {
    if (fields.elements[i].text != "num-slaves") continue;
    const std::string& text = fields.elements[i + 1].text;
    int number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number >= 0 ? std::optional(number) : std::nullopt;
  }
  return std::nullopt;
}

/// The fields of one Sentinel, as names and values.
std::optional<NodeAddress> read_sentinel(const base::Reply& fields) {
  std::string_view host, port;
  for (std::size_t i = 0; i + 1 < fields.elements.size(); i += 2) {
    if (fields.elements[i].text == "ip") host = fields.elements[i + 1].text;
    if (fields.elements[i].text == "port") port = fields.elements[i + 1].text;
  }
  return read_address(host, port);
}

}  // namespace

std::vector<base::Command> questions(const std::string& name) {
  return {{{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name}},
          {{"SENTINEL", "SENTINELS", name}},
          {{"SENTINEL", "MASTER", name}}};
}

Answer decode(const std::vector<base::Reply>& replies) {
  Answer answer;
  const base::Reply reply = replies.empty() ? base::Reply{} : replies.front();
  if (reply.is_array() && reply.elements.size() == 2) {
    answer.primary = read_address(reply.elements[0].text, reply.elements[1].text);
  }
  if (!answer.primary) {
    answer.problem = reply.is_null() ? "it knows no primary of this name" : "its answer makes no sense";
    if (reply.is_error() && !reply.text.empty()) answer.problem = reply.text;
    return answer;
  }
  if (replies.size() < 2) return answer;
  for (const base::Reply& each : replies[1].elements) {
    if (auto address = read_sentinel(each)) answer.sentinels.push_back(std::move(*address));
  }
  if (replies.size() > 2) answer.replicas = read_replicas(replies[2]);
  return answer;
}

std::optional<NodeAddress> switched_to(std::string_view message, std::string_view name) {
  // The name, the old host and port, the new host and port.
  std::array<std::string_view, 5> words;
  for (std::string_view& word : words) {
    word = message.substr(0, message.find(' '));
    message.remove_prefix(std::min(message.size(), word.size() + 1));
  }
  if (words[0] != name || !message.empty()) return {};
  return read_address(words[3], words[4]);
}

std::string in_words(const NodeAddress& address) { return base::host_and_port(address.host, address.port); }

}  // namespace holdfast::redis::sentinel
