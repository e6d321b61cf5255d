#include "wire/server_calls.hpp"

namespace holdfast::wire {

base::Command server_info() { return {{"INFO", "server"}}; }

std::string decode_run_id(const base::Reply& reply) {
  constexpr std::string_view kLine = "\nrun_id:";
  const std::size_t found = reply.is_text() ? reply.text.find(kLine) : std::string::npos;
  if (found == std::string::npos) return {};
  const std::size_t begin = found + kLine.size();
  return reply.text.substr(begin, reply.text.find('\r', begin) - begin);
}

base::Command remaining(std::string_view key) { return {{"PTTL", std::string(key)}}; }

std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl) {
  if (!pttl.is_integer() || pttl.integer < 0) return std::nullopt;
  return std::chrono::milliseconds(pttl.integer);
}

base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count) {
  return {{"SCAN", std::string(cursor), "MATCH", std::string(pattern), "COUNT", std::to_string(count), "TYPE", "hash"}};
}

}  // namespace holdfast::wire
