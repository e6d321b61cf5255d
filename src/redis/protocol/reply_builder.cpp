#include "redis/protocol/reply_builder.hpp"

#include <charconv>

namespace holdfast::redis {

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

}  // namespace holdfast::redis
