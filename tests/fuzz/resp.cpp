// SPDX-License-Identifier: Apache-2.0
#include "fuzz/resp.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "redis/decide/resp.hpp"

namespace holdfast::fuzz {
namespace {

using base::Reply;

constexpr redis::ReplyLimits kLimits{.bytes = 1U << 20U, .elements = 1U << 14U};
constexpr std::array kOftenSaid{"OK",         "PONG",        "QUEUED",      "master",    "slave",    "mode",
                                "cluster",    "standalone",  "role",        "id",        "0",        "-1",
                                "10.0.0.1",   "6379",        "message",     "subscribe", "smessage", "ssubscribe",
                                "invalidate", "unsubscribe", "sunsubscribe"};
constexpr std::array kOftenFailing{"MOVED 866 10.0.0.1:7001",
                                   "ASK 866 10.0.0.1:7001",
                                   "NOSCRIPT No matching script.",
                                   "LOADING Redis is loading the dataset in memory",
                                   "READONLY You can't write against a read only replica.",
                                   "CLUSTERDOWN The cluster is down",
                                   "TRYAGAIN Multiple keys request during rehashing of slot",
                                   "NOPERM User app has no permissions to run the 'eval' command",
                                   "OOM command not allowed when used memory > 'maxmemory'.",
                                   "MISCONF Errors writing to the AOF file: No space left on device",
                                   "WRONGTYPE Operation against a key holding the wrong kind of value",
                                   "ERR unknown command 'SSUBSCRIBE', with args beginning with: "};

}  // namespace

std::string encoded(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::null:
      return "_\r\n";
    case Reply::Kind::integer:
      return ":" + std::to_string(reply.integer) + "\r\n";
    case Reply::Kind::text:
      return "$" + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n";
    case Reply::Kind::error:
      return "!" + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n";
    case Reply::Kind::array:
      break;
  }
  std::string out = "*" + std::to_string(reply.elements.size()) + "\r\n";
  for (const Reply& each : reply.elements) out += encoded(each);
  return out;
}

std::vector<Reply> decoded(std::string_view bytes) {
  redis::Parser parser(kLimits);
  redis::ReplyBuilder builder;
  std::vector<Reply> all;
  while (!bytes.empty()) {
    while (!parser.done()) {
      const std::optional<redis::Node> node = parser.next(bytes);
      if (!node) return all;
      builder.add(*node);
    }
    builder.finish();
    bytes.remove_prefix(parser.parsed());
    parser.reset();
    all.push_back(std::move(builder.replies.front()));
    builder.replies.clear();
  }
  return all;
}

bool same(const Reply& a, const Reply& b) {
  return a.kind == b.kind && a.integer == b.integer && a.text == b.text &&
         std::ranges::equal(a.elements, b.elements, same);
}

Reply made_reply(Input& input, std::size_t depth) {
  const auto said = [](Reply::Kind kind, std::string_view text) {
    return Reply{.kind = kind, .text = std::string(text)};
  };
  switch (input.below(depth < 4 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return {.kind = Reply::Kind::integer, .integer = input.number()};
    case 2:
      return {.kind = Reply::Kind::integer, .integer = static_cast<std::int8_t>(input.byte())};
    case 3:
      return said(Reply::Kind::text, input.text());
    case 4:
      return said(Reply::Kind::text, kOftenSaid.at(input.below(kOftenSaid.size())));
    case 5:
      return said(Reply::Kind::error,
                  input.coin() ? kOftenFailing.at(input.below(kOftenFailing.size())) : input.text());
    default: {
      Reply list{.kind = Reply::Kind::array};
      for (std::size_t left = input.below(6); left > 0; --left) list.elements.push_back(made_reply(input, depth + 1));
      return list;
    }
  }
}

}  // namespace holdfast::fuzz
