#include "redis/reply_builder.hpp"

#include <charconv>

namespace holdfast::redis {

void ReplyBuilder::add(const boost::redis::resp3::node_view& node) {
  using boost::redis::resp3::type;
  base::Reply reply;
  switch (node.data_type) {
    case type::null:
      break;
    case type::number:
      reply.kind = base::Reply::Kind::integer;
      std::from_chars(node.value.data(), node.value.data() + node.value.size(), reply.integer);
      break;
    case type::boolean:
      reply.kind = base::Reply::Kind::integer;
      reply.integer = node.value == "t" ? 1 : 0;
      break;
    case type::simple_error:
    case type::blob_error:
      reply.kind = base::Reply::Kind::error;
      reply.text = node.value;
      break;
    case type::array:
    case type::set:
    case type::map:
    case type::push:
    case type::attribute:
      reply.kind = base::Reply::Kind::array;
      break;
    default:
      reply.kind = base::Reply::Kind::text;
      reply.text = node.value;
      break;
  }
  // Only the newest element of each depth is pointed to, and a new one at its depth replaces the pointer, so growth of
  // a vector never leaves a pointer in use behind.
  path_.resize(node.depth);
  std::vector<base::Reply>& siblings = node.depth == 0 ? replies : path_.back()->elements;
  path_.push_back(&siblings.emplace_back(std::move(reply)));
}

}  // namespace holdfast::redis
