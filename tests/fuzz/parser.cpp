// SPDX-License-Identifier: Apache-2.0
// The bytes of a server, whole and in portions: the same nodes, within the limits; and what is sent is what arrives.
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::fuzz {
namespace {

constexpr redis::ReplyLimits kLimits{.bytes = 160, .elements = 32};

struct Read {
  std::vector<base::Reply> messages;
  bool refused = false;
  std::size_t consumed = 0;
};

/// As a session does it: what has been taken apart is dropped, and the rest is given again with what has come since.
class Reader {
 public:
  /// False: what has come makes no sense.
  bool take(std::string_view bytes) {
    buffer_ += bytes;
    while (!buffer_.empty()) {
      if (!message()) return !read_.refused;
      buffer_.erase(0, parser_.parsed());
      read_.consumed += parser_.parsed();
      parser_.reset();
      nodes_ = 0;
    }
    return true;
  }
  /// What has been taken, once and for all.
  Read read() {
    read_.messages = std::move(builder_.replies);
    read_.messages.resize(finished_);
    return std::move(read_);
  }

 private:
  /// False: the rest is still to come, or makes no sense.
  bool message() {
    while (!parser_.done()) {
      const auto node = parser_.next(buffer_);
      if (!node) {
        read_.refused = !parser_.problem().empty();
        return false;
      }
      require(node->depth <= redis::Parser::kDeepest, "arrays lie no deeper than allowed");
      require(++nodes_ <= kLimits.elements + 1, "no message has more elements than allowed");
      builder_.add(*node);
    }
    require(parser_.parsed() <= kLimits.bytes + 4, "no message is longer than allowed");
    builder_.finish();
    ++finished_;
    return true;
  }

  redis::Parser parser_{kLimits};
  redis::ReplyBuilder builder_;
  std::string buffer_;
  std::size_t nodes_ = 0;
  std::size_t finished_ = 0;
  Read read_;
};

Read in_portions(std::string_view bytes, Input portions) {
  Reader reader;
  while (!bytes.empty()) {
    const std::string_view portion = bytes.substr(0, 1 + portions.below(16));
    bytes.remove_prefix(portion.size());
    if (!reader.take(portion)) break;
  }
  return reader.read();
}

Read whole(std::string_view bytes) {
  Reader reader;
  reader.take(bytes);
  return reader.read();
}

void compare(const Read& a, const Read& b) {
  require(a.refused == b.refused, "bytes are refused in portions as they are as a whole");
  require(a.consumed == b.consumed, "as much is understood in portions as of the whole");
  require(a.messages.size() == b.messages.size(), "there are as many messages in portions");
  for (std::size_t i = 0; i < a.messages.size(); ++i) {
    require(same(a.messages[i], b.messages[i]), "a message is the same in portions");
  }
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(parser, bytes) {
  using namespace holdfast;
  using namespace holdfast::fuzz;
  Input input(bytes);
  const Input portions(input.take(8));
  const std::string_view sent = input.rest();
  const Read at_once = whole(sent);
  compare(at_once, in_portions(sent, portions));
  compare(at_once, in_portions(sent, Input({})));
  Input tree(sent);
  const base::Reply reply = made_reply(tree);
  const std::vector<base::Reply> arrived = decoded(encoded(reply));
  require(arrived.size() == 1 && same(arrived.front(), reply), "a reply that is sent arrives as it is");
}
