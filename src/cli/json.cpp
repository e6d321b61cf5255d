#include "cli/json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace holdfast::cli {
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
  if (point < 0x10000) return fmt::format("\\u{:04x}", static_cast<unsigned>(point));
  const unsigned rest = static_cast<unsigned>(point) - 0x10000U;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800U + (rest >> 10U), 0xdc00U + (rest & 0x3ffU));
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
  return out;
}

boost::json::object to_json(const Problem& problem) {
  boost::json::object out;
  out["code"] = problem.code;
  put_text(out, "message", without_logins(problem.message));
  out["key"] = nullptr;
  out["node"] = nullptr;
  if (!problem.key.empty()) put_text(out, "key", problem.key);
  if (!problem.node.empty()) put_text(out, "node", problem.node);
  return out;
}

std::string json_line(const boost::json::value& value) {
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

}  // namespace holdfast::cli
