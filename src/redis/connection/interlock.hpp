// SUBSCRIBE and UNSUBSCRIBE, and their sharded variants: matches their confirmations with the replies around them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/config.hpp>

#include "redis/connection/connection.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/subscriptions.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// A refused SUBSCRIBE or UNSUBSCRIBE is answered by one plain error, a permitted one by a push for each channel; both
/// come in the order of the replies. So the request behind it counts the confirmations that must come first
/// (`Op::unconfirmed`): a reply that comes before the last of them is the refusal, not the reply to the command behind.
/// SSUBSCRIBE works the same way. But a server also sends `sunsubscribe` unasked when it gives a slot away, and then
/// refuses a pending SUNSUBSCRIBE (MOVED), so counting would go wrong. So SUNSUBSCRIBEs are not counted: they are
/// followed by a HELLO, which is never refused, and any error before its reply is the refusal of one of them. On the
/// loop.
class Interlock {
 public:
  /// `expect` is called with each request that was written to the connection's buffer and gets one reply. The
  /// references outlive this.
  Interlock(timing::Schedule& schedule, const Config& config, Subscriptions& subscriptions, const Lifeline& lifeline,
            Connection& connection, std::function<void(const std::shared_ptr<Op>&)> expect);

  void on_new_session() { unsubscribe_refused_ = false; }
  /// Writes a SUBSCRIBE before the request's commands, if it needs one and none was refused recently.
  void subscribe(Op& op);
  /// A push of this kind, perhaps a confirmation, has arrived while this request was the first one unanswered.
  void on_confirmed(Op& first, const std::string& kind, const std::string& channel);
  /// A reply has arrived while this request, the first one unanswered, still lacked confirmations.
  void on_refused(Op& first);
  /// A reply to a request that leaves sharded channels has arrived. False: it was the last.
  bool refused_to_leave(Op& op);
  void cancel() { idle_alarm_.cancel(); }

 private:
  void on_unsubscribe_refused(const Op& op, const std::string& error_text);
  void on_subscribe_refused(Op& op, std::string verb, const std::string& error_text);
  void sweep_later();
  void on_idle_alarm();
  void give_back_idle();
  std::shared_ptr<Op> leave(std::vector<std::string> channels);
  std::shared_ptr<Op> leave_sharded(const Subscriptions::Idle& idle);

  const Config& config_;
  Subscriptions& subscriptions_;
  const Lifeline& lifeline_;
  Connection& connection_;
  const std::function<void(const std::shared_ptr<Op>&)> expect_;
  timing::Alarm idle_alarm_;
  bool unsubscribe_refused_ = false;
};

}  // namespace holdfast::redis
