// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/resp.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.hpp"

namespace holdfast::redis {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::size_t kMost = 4;

/// Where a secret is in the text; empty: none is.
struct Found {
  std::size_t at = std::string_view::npos;
  std::size_t length = 0;
};

/// The first one, and of those that begin there the longest, which may have another one in it.
Found first_of(const std::vector<std::string>& secrets, std::string_view text) {
  Found first;
  for (const std::string& secret : secrets) {
    const std::size_t at = text.find(secret);
    if (at == std::string_view::npos) continue;
    if (at < first.at || (at == first.at && secret.size() > first.length)) first = {at, secret.size()};
  }
  return first;
}

/// How many of the last bytes are the beginning of a secret.
std::size_t begun_at_the_end(const std::vector<std::string>& secrets, std::string_view text) {
  std::size_t most = 0;
  for (const std::string& secret : secrets) {
    for (std::size_t length = std::min(secret.size(), text.size()); length > most; --length) {
      if (text.ends_with(std::string_view(secret).substr(0, length))) most = length;
    }
  }
  return most;
}

}  // namespace

void SentSecrets::add(std::string secret) {
  if (secret.empty() || std::ranges::find(secrets_, secret) != secrets_.end()) return;
  if (secrets_.size() == kMost) secrets_.erase(secrets_.begin());
  secrets_.push_back(std::move(secret));
}

std::string SentSecrets::hidden_in(std::string_view text) const {
  std::string out;
  while (true) {
    const Found found = first_of(secrets_, text);
    if (found.length == 0) return out.append(text);
    out.append(text.substr(0, found.at)).append(kHidden);
    text.remove_prefix(found.at + found.length);
  }
}

std::string SentSecrets::hidden_in_beginning(std::string_view text) const {
  const std::size_t begun = begun_at_the_end(secrets_, text);
  std::string out = hidden_in(text.substr(0, text.size() - begun));
  return begun == 0 ? out : out.append(kHidden);
}

namespace {

constexpr std::string_view kEnd = "\r\n";
/// The valid first bytes of lines. Attributes and streamed values are missing: they are never requested.
constexpr std::string_view kTypes = "+-:$*_#,(!=%~>";
/// The start of a TLS server's answer: an alert.
constexpr std::string_view kTlsAlert = "\x15\x03";
/// How much of an invalid answer is shown, and how much is read for that: a password that begins in it is all hidden.
constexpr std::size_t kShown = 60;
constexpr std::size_t kRead = 4096;

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<Node> Parser::next(std::string_view bytes) {
  if (bulk_) return bulk(bytes);
  if (parsed_ >= bytes.size()) return std::nullopt;
  const char type = bytes[parsed_];
  if (kTypes.find(type) == std::string_view::npos) return not_redis(bytes);
  const std::size_t end = bytes.find(kEnd, std::max(parsed_, searched_));
  searched_ = bytes.size() - 1;  // if there is none so far; the last byte may be half of a line end
  const std::size_t known = bytes.size() - (bytes.back() == kEnd.front() ? 1U : 0U);
  if (std::min(end, known) > limits_.bytes) return too_long();
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<Node> node = line(type, bytes.substr(parsed_ + 1, end - parsed_ - 1), bytes);
  if (!problem_.empty()) return std::nullopt;
  parsed_ = searched_ = end + kEnd.size();
  return bulk_ ? bulk(bytes) : node;
}

std::optional<Node> Parser::line(char type, std::string_view content, std::string_view bytes) {
  switch (type) {
    case '_':
      return value(Node::Type::null, {});
    case '+':
    case ',':
    case '(':
      return value(Node::Type::text, content);
    case '-':
      return value(Node::Type::error, content);
    case '#':
      return content == "t" || content == "f" ? value(Node::Type::boolean, content) : not_redis(bytes);
    case ':': {
      std::int64_t number = 0;
      return read(content, number) ? value(Node::Type::integer, content) : not_redis(bytes);
    }
    default:
      break;
  }
  if (content == "-1" && (type == '$' || type == '*')) return value(Node::Type::null, {});
  std::size_t announced = 0;
  if (!read(content, announced)) return not_redis(bytes);
  switch (type) {
    case '*':
    case '~':
      return array(Node::Type::array, announced, 1);
    case '%':
      return array(Node::Type::array, announced, 2);
    case '>':
      return array(Node::Type::push, announced, 1);
    default:
      break;
  }
  if (announced > limits_.bytes) {
    return refuse("announces " + std::to_string(announced) + " bytes, more than " + std::to_string(limits_.bytes));
  }
  bulk_ = announced;
  bulk_type_ = type == '!' ? Node::Type::error : Node::Type::text;
  return std::nullopt;
}

/// The bytes after a line that announced their number.
std::optional<Node> Parser::bulk(std::string_view bytes) {
  const std::size_t end = parsed_ + *bulk_;
  if (end > limits_.bytes) return too_long();
  if (bytes.size() < end + kEnd.size()) return std::nullopt;
  if (bytes.substr(end, kEnd.size()) != kEnd) return not_redis(bytes);
  const std::string_view content = bytes.substr(parsed_, *bulk_);
  parsed_ = end + kEnd.size();
  bulk_.reset();
  return value(bulk_type_, content);
}

std::optional<Node> Parser::array(Node::Type type, std::size_t announced, std::size_t each) {
  if (announced > (limits_.elements - elements_) / each) {
    return refuse("announces " + std::to_string(announced) + (each == 1 ? " elements" : " pairs") + ", more than " +
                  std::to_string(limits_.elements) + " elements in all");
  }
  if (type == Node::Type::push && (open_ > 0 || announced == 0)) return refuse("has a push where none can be");
  elements_ += announced * each;
  if (announced == 0) return value(type, {});
  if (open_ == kDeepest) return refuse("is nested deeper than " + std::to_string(kDeepest));
  missing_.at(open_) = announced * each;
  return Node{type, open_++, {}};
}

/// Takes a complete element, which may complete arrays.
std::optional<Node> Parser::value(Node::Type type, std::string_view content) {
  const Node node{type, open_, content};
  while (open_ > 0 && --missing_.at(open_ - 1) == 0) --open_;
  return node;
}

std::optional<Node> Parser::refuse(std::string problem) {
  problem_ = "a reply of the server's " + std::move(problem);
  return std::nullopt;
}

std::optional<Node> Parser::too_long() { return refuse("is longer than " + std::to_string(limits_.bytes) + " bytes"); }

std::optional<Node> Parser::not_redis(std::string_view bytes) {
  const std::string_view rest = bytes.substr(parsed_);
  const std::string_view first_line = rest.substr(0, std::min(kRead, rest.find_first_of(kEnd)));
  const std::string words = secrets_ == nullptr ? std::string(first_line) : secrets_->hidden_in_beginning(first_line);
  problem_ = "the server does not speak the Redis protocol: its answer begins with " +
             base::quote(std::string_view(words).substr(0, kShown));
  if (rest.starts_with(kTlsAlert)) problem_ += ", which is TLS (rediss://)";
  return std::nullopt;
}

void Parser::reset() {
  parsed_ = searched_ = elements_ = open_ = 0;
  bulk_.reset();
  problem_.clear();
}

void ReplyBuilder::add(const Node& node) {
  base::Reply reply;
  switch (node.type) {
    case Node::Type::null:
      break;
    case Node::Type::integer:
      reply.kind = base::Reply::Kind::integer;
      std::from_chars(node.value.data(), node.value.data() + node.value.size(), reply.integer);
      break;
    case Node::Type::boolean:
      reply.kind = base::Reply::Kind::integer;
      reply.integer = node.value == "t" ? 1 : 0;
      break;
    case Node::Type::text:
      reply.kind = base::Reply::Kind::text;
      reply.text = node.value;
      break;
    case Node::Type::error:
      reply.kind = base::Reply::Kind::error;
      reply.text = node.value;
      break;
    case Node::Type::array:
    case Node::Type::push:
      reply.kind = base::Reply::Kind::array;
      break;
  }
  // Only the newest element of each depth has a pointer, which a new element replaces, so a growing vector never leaves
  // a dangling pointer in use.
  path_.resize(node.depth);
  std::vector<base::Reply>& siblings = node.depth == 0 ? replies : path_.back()->elements;
  path_.push_back(&siblings.emplace_back(std::move(reply)));
}

// ---- commands ----

namespace {

void add_line(std::string& out, char type, std::size_t number) {
  char line[24] = {type};
  char* const end = std::to_chars(line + 1, line + 21, number).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out.append(line, end + 2);
}

void add_bulk(std::string& out, std::string_view bytes) {
  add_line(out, '$', bytes.size());
  out.append(bytes).append("\r\n");
}

}  // namespace

void encode(std::string& out, const base::Command& command, bool full_text) {
  const base::Script* script = command.script;
  add_line(out, '*', command.args.size() + (script != nullptr ? 2 : 0));
  if (script != nullptr) {
    add_bulk(out, full_text ? "EVAL" : "EVALSHA");
    add_bulk(out, full_text ? script->text : script->sha1);
  }
  for (const std::string& arg : command.args) add_bulk(out, arg);
}

void encode(std::string& out, std::string_view verb, const std::vector<std::string>& args) {
  add_line(out, '*', 1 + args.size());
  add_bulk(out, verb);
  for (const std::string& arg : args) add_bulk(out, arg);
}

}  // namespace holdfast::redis
