// SUBSCRIBE and UNSUBSCRIBE, and those of sharded channels, in step with the replies around them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/config.hpp>

#include "redis/connection/connection.hpp"
#include "redis/connection/lifeline.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/subscriptions.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// A refused SUBSCRIBE or UNSUBSCRIBE is answered by a plain error and by nothing else, a permitted one by a push for
/// each channel; both come in the order of the replies. So the request behind it counts the confirmations that are to
/// come first (`Op::unconfirmed`), and a reply that comes before the last of them is the refusal, and must not be taken
/// for the reply of the command behind it.
/// SSUBSCRIBE is the same. But a server says `sunsubscribe` of itself too, when it gives a slot away, and then refuses
/// a SUNSUBSCRIBE that is under way (MOVED): to count would lose step. So those are not counted: behind them goes a
/// HELLO, which nobody is refused, and whatever error comes before its reply is a refusal of one of them. On the loop.
class Interlock {
 public:
  /// `expect` is called with what was put into the connection's buffer and is answered by one reply. The references
  /// outlive this.
  Interlock(timing::Schedule& schedule, const Config& config, Subscriptions& subscriptions, const Lifeline& lifeline,
            Connection& connection, std::function<void(const std::shared_ptr<Op>&)> expect);

  void on_new_session() { unsubscribe_refused_ = false; }
  /// Puts a SUBSCRIBE ahead of the request's commands, if it needs one and none has been refused lately.
  void subscribe(Op& op);
  /// A push of this kind, perhaps a confirmation, has come while this request was the first in line.
  void on_confirmed(Op& first, const std::string& kind, const std::string& channel);
  /// A reply has come while this request, the first in line, still lacked confirmations.
  void on_refused(Op& first);
  /// One reply of a request that leaves sharded channels has come. False: it was the last.
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
