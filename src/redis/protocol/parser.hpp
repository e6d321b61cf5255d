// The bytes of a server as nodes of replies (RESP3), within limits. Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// A piece of a reply: a value, or the head of an array, behind which its elements follow.
struct Node {
  enum class Type { null, integer, boolean, text, error, array, push };
  Type type = Type::null;
  std::size_t depth = 0;     ///< How many arrays it is in.
  std::string_view value{};  ///< Points into the bytes.
};

/// What one reply, or one push, may be at most.
struct ReplyLimits {
  std::size_t bytes;     ///< As they travel.
  std::size_t elements;  ///< Of all arrays in it together.
};

/// Takes one message apart, perhaps in several goes: each time it is given the message's bytes from its first one on,
/// as far as they have arrived. What a message announces is checked against the limits before it arrives, so nobody
/// needs to keep room for it. A map is an array of keys and values.
class Parser {
 public:
  /// How deep arrays may lie in arrays.
  static constexpr std::size_t kDeepest = 8;

  explicit Parser(ReplyLimits limits) : limits_(limits) {}
  void set(ReplyLimits limits) { limits_ = limits; }

  /// The next node. Empty: the rest is still to come, or there is a problem.
  std::optional<Node> next(std::string_view bytes);
  /// The message is complete; reset() comes next.
  bool done() const { return open_ == 0 && parsed_ > 0 && !bulk_; }
  /// How many bytes have become nodes so far.
  std::size_t parsed() const { return parsed_; }
  /// What is wrong with the message, in words; empty: nothing.
  const std::string& problem() const { return problem_; }
  /// For the next message.
  void reset();

 private:
  std::optional<Node> line(char type, std::string_view content, std::string_view bytes);
  std::optional<Node> bulk(std::string_view bytes);
  std::optional<Node> array(Node::Type type, std::size_t announced, std::size_t each);
  std::optional<Node> value(Node::Type type, std::string_view content);
  std::optional<Node> refuse(std::string problem);
  std::optional<Node> too_long();
  std::optional<Node> not_redis(std::string_view bytes);

  ReplyLimits limits_;
  std::size_t parsed_ = 0;
  std::size_t searched_ = 0;  // no line ends before this
  std::size_t elements_ = 0;  // announced so far
  std::optional<std::size_t> bulk_;
  Node::Type bulk_type_ = Node::Type::text;
  std::size_t open_ = 0;                         // arrays that are not complete
  std::array<std::size_t, kDeepest> missing_{};  // elements of each of them
  std::string problem_;
};

}  // namespace holdfast::redis
