// Builds base::Reply trees from the parser's events; one tree per command.
#pragma once

#include <vector>

#include <boost/redis/resp3/node.hpp>

#include "base/resp.hpp"

namespace holdfast::redis {

class ReplyBuilder {
 public:
  /// One node, in the parser's order (parents before children).
  void add(const boost::redis::resp3::node_view& node);
  /// The message is complete.
  void finish() { path_.clear(); }

  std::vector<base::Reply> replies;

 private:
  std::vector<base::Reply*> path_;  // the latest node of each depth
};

}  // namespace holdfast::redis
