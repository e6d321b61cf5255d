// SPDX-License-Identifier: Apache-2.0
// One pending request of a lane.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/intrusive/set_hook.hpp>

#include "redis/connection/request.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::redis {

/// Used on the loop. Stays in the list of requests in flight as long as a reply may come, finished or not.
struct Op : boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
            std::enable_shared_from_this<Op> {
  Op(Request&& what, ResultHandler&& whom) : request(std::move(what)), handler(std::move(whom)) {}

  Request request;
  ResultHandler handler;  // null: it has run, or nobody waits for the reply
  ReplyBuilder builder;
  ReplyLimits left = request.most;  // for the replies that are still to come
  std::size_t asks = 0;             // replies to ASKING that come before the SSUBSCRIBE's confirmations
  std::size_t loads = 0;            // replies to SCRIPT LOAD and ASKING that come before the commands' own
  std::size_t replies = 0;          // still to come
  base::TimePoint sent_at{};
  base::TimePoint deadline{};
  std::list<std::shared_ptr<Op>>::iterator waiting;  // valid while at the gate
  bool at_gate = false;
  bool leaving = false;                 // an UNSUBSCRIBE goes first, not a SUBSCRIBE
  bool leaving_sharded = false;         // SUNSUBSCRIBEs go first; only the reply to the command behind them is no error
  std::size_t unconfirmed = 0;          // channels of the SUBSCRIBE or UNSUBSCRIBE that goes first
  std::size_t unconfirmed_sharded = 0;  // channels of the SSUBSCRIBE that goes first, or behind the SUBSCRIBE
  Subscriptions::Why cannot_subscribe;  // why they were not subscribed
  bool subscribing = false;             // they are being subscribed, on another connection

  // If the server did not know a script: see begin_resending().
  std::vector<std::size_t> resent;    // the commands resent with their script's text; none: nothing was resent
  std::vector<base::Reply> answered;  // meanwhile, the first replies

  bool finished() const { return handler == nullptr; }
  bool asking() const { return asks > 0 && unconfirmed == 0; }
  bool lacks_confirmations() const { return unconfirmed + unconfirmed_sharded > 0; }
  friend bool operator<(const Op& a, const Op& b) { return a.deadline < b.deadline; }
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
