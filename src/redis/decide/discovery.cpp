// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/discovery.hpp"

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

bool has(const std::vector<NodeAddress>& list, const NodeAddress& address) {
  return std::ranges::find(list, address) != list.end();
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

void KnownSentinels::worked(const NodeAddress& address) {
  std::erase(failed_, address);
  const auto found = std::ranges::find(order_, address);
  if (found != order_.end()) std::rotate(order_.begin(), found, found + 1);
}

void KnownSentinels::failed(const NodeAddress& address) {
  const auto found = std::ranges::find(order_, address);
  if (found == order_.end()) return;
  if (!has(failed_, address)) failed_.push_back(address);
  std::rotate(found, found + 1, order_.end());
}

void KnownSentinels::heard_of(const std::vector<NodeAddress>& others) {
  for (const NodeAddress& each : others) {
    if (has(order_, each) || !make_room()) continue;
    order_.push_back(each);
  }
}

bool KnownSentinels::make_room() {
  if (order_.size() < kMost) return true;
  const auto useless = std::ranges::find_if(failed_, [this](const NodeAddress& each) { return !has(users_, each); });
  if (useless == failed_.end()) return false;
  std::erase(order_, *useless);
  failed_.erase(useless);
  return true;
}

Discovery::Discovery(std::vector<NodeAddress> order, base::Duration limit)
    : order_(std::move(order)),
      head_start_(std::min(kHeadStart, limit / 2 / static_cast<base::Duration::rep>(order_.size()))) {}

Discovery::Step Discovery::next(base::TimePoint now) {
  if (failures_.size() == order_.size()) {
    return {.ask = {}, .lost = std::ranges::all_of(failures_, [](const auto& each) { return each.has_value(); })};
  }
  Step step{.ask = failures_.size()};
  failures_.emplace_back();
  if (failures_.size() < order_.size()) step.look = now + head_start_;
  return step;
}

Discovery::Step Discovery::on_failure(std::size_t index, const std::string& why, base::TimePoint now) {
  failures_[index] = why;
  return next(now);
}

std::vector<NodeAddress> Discovery::silent() const {
  std::vector<NodeAddress> out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) out.push_back(order_[i]);
  }
  return out;
}

std::string Discovery::problem() const {
  std::string out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) continue;
    out += (out.empty() ? "no Sentinel knows the primary: " : "; ") + in_words(order_[i]) + ": " + *failures_[i];
  }
  return out;
}

std::string Discovery::missing() const {
  std::string out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) out += (out.empty() ? "answer from Sentinel " : ", ") + in_words(order_[i]);
  }
  const std::string failed = problem();
  return failed.empty() ? out : out + " (" + failed + ")";
}

}  // namespace holdfast::redis::sentinel
