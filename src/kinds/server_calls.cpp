// SPDX-License-Identifier: Apache-2.0
#include "kinds/server_calls.hpp"

#include <charconv>
#include <stdexcept>

#include "kinds/calls.hpp"

namespace holdfast::wire {

base::Command server_info() { return {{"INFO", "server"}}; }

std::string decode_run_id(const base::Reply& reply) {
  constexpr std::string_view kLine = "\nrun_id:";
  const std::size_t found = reply.is_text() ? reply.text.find(kLine) : std::string::npos;
  if (found == std::string::npos) return {};
  const std::size_t begin = found + kLine.size();
  return reply.text.substr(begin, reply.text.find('\r', begin) - begin);
}

base::Command wait(int replicas, std::chrono::milliseconds time) {
  return {{"WAIT", std::to_string(replicas), std::to_string(time.count())}};
}

base::Command wait_aof(std::chrono::milliseconds time) { return {{"WAITAOF", "1", "0", std::to_string(time.count())}}; }

std::optional<long long> decode_acks(const base::Reply& reply) {
  const base::Reply& number = reply.is_array() && !reply.elements.empty() ? reply.elements.front() : reply;
  if (!number.is_integer()) return std::nullopt;
  return number.integer;
}

base::Command replication_info() { return {{"INFO", "replication"}}; }

std::optional<int> decode_replicas(const base::Reply& reply) {
  constexpr std::string_view kLine = "\nconnected_slaves:";
  const std::size_t found = reply.is_text() ? reply.text.find(kLine) : std::string::npos;
  if (found == std::string::npos) return std::nullopt;
  int replicas = 0;
  const char* const begin = reply.text.data() + found + kLine.size();
  const auto [end, error] = std::from_chars(begin, reply.text.data() + reply.text.size(), replicas);
  if (error != std::errc() || replicas < 0) return std::nullopt;
  return replicas;
}

base::Command remaining(std::string_view key) { return {{"PTTL", std::string(key)}}; }

std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl) {
  if (!pttl.is_error() && !pttl.is_integer()) throw std::runtime_error("its time to live is no number");
  if (pttl.is_error() || pttl.integer < 0) return std::nullopt;
  return std::chrono::milliseconds(pttl.integer);
}

std::string asked_channel(std::string_view key) { return prefixed("holdfast_asked", key); }

std::vector<base::Command> ask_release(std::string_view key) {
  return {remaining(key), {{"PUBLISH", asked_channel(key), "asked"}}};
}

std::size_t decode_asked(const std::vector<base::Reply>& replies) {
  if (!replies.back().is_integer() || replies.back().integer < 0) throw std::runtime_error("it does not say how many");
  return static_cast<std::size_t>(replies.back().integer);
}

base::Command listeners(const std::vector<std::string>& channels, bool sharded) {
  base::Command command{{"PUBSUB", sharded ? "SHARDNUMSUB" : "NUMSUB"}};
  command.args.insert(command.args.end(), channels.begin(), channels.end());
  return command;
}

std::optional<std::uint64_t> decode_listeners(const base::Reply& reply, std::size_t place) {
  const std::size_t at = 2 * place + 1;
  if (!reply.is_array() || at >= reply.elements.size() || !reply.elements[at].is_integer()) return std::nullopt;
  const std::int64_t told = believable(reply.elements[at].integer);
  return told < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(told));
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]^-\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count, std::string_view type) {
  return {{"SCAN", std::string(cursor), "MATCH", std::string(pattern), "COUNT", std::to_string(count), "TYPE",
           std::string(type)}};
}

base::Command length(std::string_view key) { return {{"STRLEN", std::string(key)}}; }

}  // namespace holdfast::wire
