// Receives what the server sends unasked: pub/sub messages and confirmations.
#pragma once

#include <functional>
#include <vector>

#include <boost/redis/resp3/node.hpp>
#include <boost/system/error_code.hpp>

#include "redis/reply_builder.hpp"

namespace holdfast::redis {

/// Collects the nodes of a push message and hands on whole ones: (kind, channel).
class PushSink {
 public:
  explicit PushSink(std::function<void(const base::Reply&)> deliver) : deliver_(std::move(deliver)) {}
  void on_init() {}
  void on_node(const boost::redis::resp3::node_view& node, boost::system::error_code&) { builder_.add(node); }
  void on_done() {
    builder_.finish();
    const std::vector<base::Reply> replies = std::move(builder_.replies);
    builder_.replies.clear();
    for (const base::Reply& reply : replies) deliver_(reply);
  }

 private:
  std::function<void(const base::Reply&)> deliver_;
  ReplyBuilder builder_;
};

/// What Boost.Redis copies about: a reference to the sink.
struct PushSinkRef {
  PushSink* sink;
  void on_init() const { sink->on_init(); }
  void on_node(const boost::redis::resp3::node_view& node, boost::system::error_code& error) const {
    sink->on_node(node, error);
  }
  void on_done() const { sink->on_done(); }
};
inline PushSinkRef boost_redis_adapt(PushSink& sink) { return {&sink}; }

}  // namespace holdfast::redis
