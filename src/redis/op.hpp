// One request under way in a lane.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/request.hpp>

#include "redis/lane.hpp"
#include "redis/reply_builder.hpp"

namespace holdfast::redis {

/// Belongs to the lane's thread. Shared by the lane and, as long as a reply may come, by the connection.
struct Op {
  Request request;
  Lane::Handler handler;
  boost::redis::request bytes;
  ReplyBuilder builder;
  base::TimePoint sent_at{};
  std::multimap<base::TimePoint, std::shared_ptr<Op>>::iterator deadline;
  std::list<std::shared_ptr<Op>>::iterator waiting;  // valid while at the gate
  bool at_gate = false;
  bool finished = false;                    // the handler has run
  bool full_text = false;                   // the server does not know the script's hash
  bool subscribing = false;                 // SUBSCRIBE goes first
  bool must_pong = false;                   // UNSUBSCRIBE goes before a PING
  std::string refused;                      // why the subscription was not confirmed
  boost::asio::cancellation_signal cancel;  // of a login whose connection failed
};

inline Result failure(Delivery delivery, std::error_code error, std::string cause, bool pointless = false) {
  Result result;
  result.delivery = delivery;
  result.error = error;
  result.cause = std::move(cause);
  result.pointless = pointless;
  return result;
}

inline std::string milliseconds(base::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace holdfast::redis
