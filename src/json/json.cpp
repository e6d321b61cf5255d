// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"

namespace holdfast::json {
namespace {

constexpr char32_t kReplacement = 0xfffd;  // for what is not UTF-8

/// Boost.JSON writes any bytes but only reads what is UTF-8.
bool is_utf8(std::string_view text) {
  boost::system::error_code error;
  boost::json::parse(boost::json::serialize(boost::json::string_view(text)), error);
  return !error;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> unsigned {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned group = byte(0) << 16U | byte(1) << 8U | byte(2);
    out += kDigits[group >> 18U];
    out += kDigits[group >> 12U & 63U];
    out += i + 1 < bytes.size() ? kDigits[group >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63U] : '=';
  }
  return out;
}

/// In UTF-16, as JSON escapes it.
std::string json_escape(char32_t point) {
  const auto escape = [](unsigned unit) {
    std::string out = "\\u";
    for (unsigned shift = 16; shift > 0; shift -= 4) out += "0123456789abcdef"[unit >> (shift - 4) & 15U];
    return out;
  };
  if (point < 0x10000) return escape(static_cast<unsigned>(point));
  const unsigned rest = static_cast<unsigned>(point) - 0x10000U;
  return escape(0xd800U + (rest >> 10U)) + escape(0xdc00U + (rest & 0x3ffU));
}

const char* kind_name(Holder::Kind kind) {
  switch (kind) {
    case Holder::Kind::holdfast:
      return "holdfast";
    case Holder::Kind::redisson:
      return "redisson";
    case Holder::Kind::other:
      break;
  }
  return "other";
}

const char* connection_name(Holder::Connection connection) {
  switch (connection) {
    case Holder::Connection::open:
      return "open";
    case Holder::Connection::none:
      return "none";
    case Holder::Connection::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

void put_text(boost::json::object& object, std::string_view key, std::string_view text) {
  if (is_utf8(text)) {
    object[key] = text;
    return;
  }
  object[key] = base::quote(text);
  object[std::string(key) + "_base64"] = base64(text);
}

boost::json::string text_json(std::string_view text) {
  return is_utf8(text) ? boost::json::string(text) : boost::json::string(base::quote(text));
}

void put_ms(boost::json::object& object, std::string_view key, std::optional<std::chrono::milliseconds> duration) {
  object[key] = duration ? boost::json::value(duration->count()) : boost::json::value(nullptr);
}

boost::json::value to_json(const std::optional<Holder>& holder) {
  if (!holder) return nullptr;
  boost::json::object out;
  out["kind"] = kind_name(holder->kind);
  out["connection"] = connection_name(holder->connection);
  for (const char* key : {"host", "process", "label", "address", "connected_ms"}) out[key] = nullptr;
  if (holder->connection != Holder::Connection::open) return out;
  put_text(out, "host", holder->host);
  out["process"] = holder->process;
  put_text(out, "label", holder->label);
  put_text(out, "address", holder->address);
  put_ms(out, "connected_ms", holder->connected_for);
  return out;
}

boost::json::object to_json(const LockHolder& holder) {
  boost::json::object out;
  put_text(out, "owner", holder.owner);
  out["mode"] = holder.mode == LockHolder::Mode::shared ? "shared" : "exclusive";
  out["count"] = holder.count;
  put_ms(out, "remaining_ms", holder.remaining);
  out["holder"] = to_json(holder.holder);
  return out;
}

boost::json::object to_json(const LockWaiter& waiter) {
  boost::json::object out;
  put_text(out, "owner", waiter.owner);
  put_ms(out, "keeps_place_ms", waiter.keeps_place);
  out["holder"] = to_json(waiter.holder);
  return out;
}

/// As the tool's --kind has it.
const char* kind_of(KeyForm form) {
  switch (form) {
    case KeyForm::read_write_locks:
      return "read-write";
    case KeyForm::simple_locks:
      return "simple";
    case KeyForm::leased_semaphores:
      return "permit";
    case KeyForm::semaphores:
      return "semaphore";
    case KeyForm::latches:
      return "latch";
    case KeyForm::locks:
    case KeyForm::any:
      break;
  }
  return "lock";
}

boost::json::object to_json(const LockInfo& info) {
  boost::json::object out;
  put_text(out, "name", info.name);
  out["owner"] = nullptr;
  if (!info.owner.empty()) put_text(out, "owner", info.owner);
  put_ms(out, "remaining_ms", info.remaining);
  out["holds"] = info.holds;
  out["holder"] = to_json(info.holder);
  out["listeners"] = info.listeners ? boost::json::value(*info.listeners) : boost::json::value(nullptr);
  boost::json::array& holders = out["holders"].emplace_array();
  for (const LockHolder& each : info.holders) holders.push_back(to_json(each));
  out["available"] = info.available ? boost::json::value(*info.available) : boost::json::value(nullptr);
  out["token"] = info.token ? boost::json::value(*info.token) : boost::json::value(nullptr);
  out["queued"] = info.queued ? boost::json::value(*info.queued) : boost::json::value(nullptr);
  boost::json::array& queue = out["queue"].emplace_array();
  for (const LockWaiter& each : info.queue) queue.push_back(to_json(each));
  if (info.form) out["kind"] = kind_of(*info.form);
  return out;
}

boost::json::array to_json(const std::vector<LockInfo>& infos) {
  boost::json::array out;
  for (const LockInfo& each : infos) out.push_back(to_json(each));
  return out;
}

namespace {

void put_us(boost::json::object& object, std::string_view key, std::optional<std::chrono::microseconds> time) {
  object[key] = time ? boost::json::value(time->count()) : boost::json::value(nullptr);
}

void put_known(boost::json::object& object, std::string_view key, std::string_view text) {
  object[key] = nullptr;
  if (!text.empty()) put_text(object, key, base::without_logins(text));
}

boost::json::object to_json(const ProbedNode& node) {
  boost::json::object out;
  put_known(out, "address", node.address);
  out["part"] = to_string(node.part);
  out["answered"] = node.answered;
  put_known(out, "problem", node.problem);
  put_known(out, "software", node.software);
  put_known(out, "version", node.version);
  put_known(out, "role", node.role);
  put_known(out, "run_id", node.run_id);
  out["keeps"] = to_string(node.keeps);
  put_us(out, "round_trip_p50_us", node.round_trip_p50);
  put_us(out, "round_trip_p99_us", node.round_trip_p99);
  put_us(out, "clock_ahead_us", node.clock_ahead);
  put_us(out, "clock_error_us", node.clock_ahead ? std::optional(node.clock_error) : std::nullopt);
  return out;
}

boost::json::object to_json(const Finding& finding) {
  boost::json::object out;
  out["severity"] = to_string(finding.severity);
  out["id"] = finding.id;
  put_known(out, "node", finding.node);
  put_known(out, "text", finding.text);
  put_known(out, "advice", finding.advice);
  return out;
}

}  // namespace

std::vector<Finding> all_findings(std::span<const ProbeReport> reports) {
  std::multimap<Severity, Finding, std::greater<>> sorted;
  const auto add = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) sorted.emplace(finding.severity, finding);
  };
  add(compare(reports));
  for (const ProbeReport& report : reports) add(report.findings);
  std::vector<Finding> all;
  for (auto& [severity, finding] : sorted) all.push_back(std::move(finding));
  return all;
}

boost::json::object to_json(std::span<const ProbeReport> reports, const std::vector<Finding>& findings) {
  boost::json::object out;
  out["worst"] = to_string(findings.empty() ? Severity::ok : findings.front().severity);
  boost::json::array& nodes = out["nodes"].emplace_array();
  for (const ProbeReport& report : reports) {
    for (const ProbedNode& node : report.nodes) nodes.push_back(to_json(node));
  }
  boost::json::array& list = out["findings"].emplace_array();
  for (const Finding& finding : findings) list.push_back(to_json(finding));
  return out;
}

std::string line(const boost::json::value& value) {
  const std::string json = boost::json::serialize(value);
  std::string out;
  for (std::string_view rest = json; !rest.empty();) {
    const std::size_t length = base::utf8_length(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += json_escape(kReplacement);
    } else if (base::unseen_length(rest) != 0) {
      out += json_escape(base::code_point(character));
    } else {
      out += character;
    }
    rest.remove_prefix(character.size());
  }
  return out + "\n";
}

}  // namespace holdfast::json
