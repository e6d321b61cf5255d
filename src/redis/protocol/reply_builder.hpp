// Builds base::Reply trees from the parser's events; one tree per command.
#pragma once

#include <vector>

#include "base/resp.hpp"
#include "redis/protocol/parser.hpp"

namespace holdfast::redis {

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
