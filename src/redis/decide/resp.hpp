// SPDX-License-Identifier: Apache-2.0
// Commands as bytes, and a server's bytes as replies (RESP3), within limits. Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"

namespace holdfast::redis {

// Commands as bytes: arrays of bulk strings.

/// Appends the command. A script goes by its hash, or with `full_text` by its text.
void encode(std::string& out, const base::Command& command, bool full_text);
/// Appends `verb` with these arguments.
void encode(std::string& out, std::string_view verb, const std::vector<std::string>& args);

// The passwords that were sent to a server, and how its words are shown without them. Pure.

class SentSecrets {
 public:
  /// An empty one is none. Only the last few are remembered: tokens change.
  void add(std::string secret);
  /// The text with `***` in place of each secret.
  std::string hidden_in(std::string_view text) const;
  /// The same for the beginning of a longer text, which may end within a secret.
  std::string hidden_in_beginning(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;
};

/// A piece of a reply: a value, or the head of an array, which its elements follow.
struct Node {
  enum class Type { null, integer, boolean, text, error, array, push };
  Type type = Type::null;
  std::size_t depth = 0;     ///< How many arrays it is in.
  std::string_view value{};  ///< Points into the bytes.
};

/// Limits for a reply, a push, or all replies to one question together: so much memory may wait for what is still to
/// come, and may be kept until all has.
struct ReplyLimits {
  std::size_t bytes;     ///< On the wire.
  std::size_t elements;  ///< In all its arrays together.
};
/// For a question, unless whoever asks wants less.
inline constexpr ReplyLimits kMostOfReplies{.bytes = 64U << 20U, .elements = 1U << 20U};

/// Parses one message, possibly in several calls: each call gets all bytes of the message received so far. Announced
/// sizes are checked against the limits before the data arrives, so no room is reserved for oversized data. A map is an
/// array of keys and values.
class Parser {
 public:
  /// How deep arrays may be nested.
  static constexpr std::size_t kDeepest = 8;

  /// problem() shows none of the secrets, if given; they outlive the parser.
  explicit Parser(ReplyLimits limits, const SentSecrets* secrets = nullptr) : limits_(limits), secrets_(secrets) {}
  void set(ReplyLimits limits) { limits_ = limits; }

  /// The next node. Empty: incomplete, or there is a problem.
  std::optional<Node> next(std::string_view bytes);
  /// The message is complete; reset() comes next.
  bool done() const { return open_ == 0 && parsed_ > 0 && !bulk_; }
  /// How many bytes have become nodes so far.
  std::size_t parsed() const { return parsed_; }
  /// How many elements the arrays so far have.
  std::size_t elements() const { return elements_; }
  /// What is wrong with the message; empty: nothing.
  const std::string& problem() const { return problem_; }
  /// Prepares for the next message.
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
  const SentSecrets* secrets_;
  std::size_t parsed_ = 0;
  std::size_t searched_ = 0;  // there is no line end before this
  std::size_t elements_ = 0;  // announced so far
  std::optional<std::size_t> bulk_;
  Node::Type bulk_type_ = Node::Type::text;
  std::size_t open_ = 0;                         // arrays that are not complete
  std::array<std::size_t, kDeepest> missing_{};  // elements of each of them
  std::string problem_;
};

// Builds base::Reply trees from the parser's events; one tree per command.

class ReplyBuilder {
 public:
  /// One node, in the parser's order (parents before children).
  void add(const Node& node);
  /// The message is complete.
  void finish() { path_.clear(); }

  std::vector<base::Reply> replies;

 private:
  std::vector<base::Reply*> path_;  // the latest node of each depth
};

}  // namespace holdfast::redis
