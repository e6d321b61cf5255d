#include "engine/hold/release.hpp"

#include <holdfast/error.hpp>

#include "engine/runtime/runtime.hpp"
#include "redis/failures/errors.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {
namespace {

ReleaseReply judge(const Plan& plan, WireTarget::Returned what, const redis::Result& result) {
  using Kind = ReleaseReply::Kind;
  if (result.delivery == redis::Delivery::unknown) return {Kind::unknown, result.cause};
  if (result.delivery == redis::Delivery::not_sent) {
    return {result.error == Errc::closed ? Kind::closed : Kind::not_sent, result.cause};
  }
  const base::Reply& reply = result.replies.front();
  if (!reply.is_error()) {
    if (what == WireTarget::Returned::place) return {Kind::deleted};
    const std::optional<std::int64_t> listeners = plan.transitions.decode_release(reply);
    return {listeners ? Kind::deleted : Kind::absent, {}, listeners.value_or(0)};
  }
  const redis::Meaning meaning = redis::classify(reply.text);
  if (meaning.code == Errc::wrong_type) return {Kind::wrong, reply.text};
  return {meaning.fate == redis::Fate::transient ? Kind::transient : Kind::error, reply.text};
}

/// How long after the first send it may be sent again. Only kinds that are not repeatable need to know.
milliseconds time_of_repetition(const WireTarget& target, const ReleaseFsm& fsm) {
  if (target.plan().traits.repeatable) return {};
  return repeated_for(fsm.give_up() - base::Clock::now(), target.runtime().config().command_timeout);
}

/// Keeps itself alive until it is finished.
class ReleaseOp : public std::enable_shared_from_this<ReleaseOp> {
 public:
  ReleaseOp(std::shared_ptr<WireTarget> target, WireTarget::Returned what, wire::Owner owner, ReleaseFsm fsm,
            ReleaseDone done)
      : runtime_(target->runtime()),
        keep_(runtime_.keep_alive()),
        target_(std::move(target)),
        what_(what),
        repeated_(time_of_repetition(*target_, fsm)),
        owner_(std::move(owner)),
        fsm_(fsm),
        done_(std::move(done)),
        pending_(runtime_.pending().begin()) {}

  ReleaseOp(const ReleaseOp&) = delete;
  ReleaseOp& operator=(const ReleaseOp&) = delete;
  /// Nothing holds it any more, and it is not finished: there was no memory to go on, or its loop is gone.
  ~ReleaseOp() {
    if (!finished_ && !runtime_.unusable()) tell({});
  }

  void start() noexcept { carry_out(fsm_.start()); }

 private:
  void carry_out(const ReleaseAction& action) noexcept {
    switch (action.kind) {
      case ReleaseAction::Kind::send:
        return send();
      case ReleaseAction::Kind::pause:
        return alarm_.set(action.until, shared_from_this());
      case ReleaseAction::Kind::finish:
        return finish(action);
    }
  }

  void send() noexcept {
    try {
      if (what_ != WireTarget::Returned::place) heard_before_ = target_->heard_so_far();
      auto request = redis::Request::of(target_->return_command(what_, owner_, repeated_),
                                        runtime_.config().command_timeout, redis::Operation::release);
      if (what_ != WireTarget::Returned::place) request.tells = target_->sharded_channels();
      runtime_.send(
          std::move(request), [self = shared_from_this()](const redis::Result& result) { self->on_result(result); },
          2 * Runtime::kMostWaiting);
    } catch (...) {
      // Out of memory: once more, later. On a group's loop nothing was handed over: its other members, or the lease.
      if (!runtime_.loop().inside()) return end_as_unknown();
      carry_out(fsm_.on_reply(base::Clock::now(), {ReleaseReply::Kind::not_sent}));
    }
  }

  void end_as_unknown() noexcept {
    finished_ = true;
    tell({});
  }

  void finish(const ReleaseAction& action) noexcept {
    finished_ = true;
    Released released{action.outcome};
    try {
      released.listeners = target_->others(action.listeners, asked_);
      if (!asked_) target_->expect_own(action.listeners, heard_before_);
    } catch (...) {
      // Out of memory: as if nobody had listened.
    }
    if (action.outcome == ReleaseOutcome::released) remember(action.listeners);
    tell(released);
  }

  /// A successor of this server may not know of it.
  void remember(std::int64_t reached) noexcept {
    if (!runtime_.has_successors()) return;
    try {
      target_->recent_releases().add(target_->return_command(what_, owner_, repeated_), base::Clock::now(),
                                     fsm_.give_up(), target_->audience(reached, asked_));
    } catch (...) {
      // Out of memory: its lease ends it there.
    }
  }

  void tell(const Released& released) noexcept {
    try {
      done_(released);
    } catch (...) {
      // Out of memory for whoever was to be told; the release itself is done.
    }
  }

  void on_result(const redis::Result& result) noexcept {
    if (!runtime_.loop().inside()) return end_as_unknown();  // the client is over, or stands still: nothing was sent
    asked_ = result.asked;
    ReleaseReply reply;
    try {
      reply = judge(target_->plan(), what_, result);
    } catch (...) {
      reply.kind = ReleaseReply::Kind::unknown;  // out of memory: what came is forgotten, and asked for again
    }
    const bool in_doubt = reply.kind == ReleaseReply::Kind::unknown || reply.kind == ReleaseReply::Kind::error;
    if (in_doubt && what_ != WireTarget::Returned::place) {
      Reporter::add(runtime_.reporter().count.unknown);
      runtime_.reporter().tell(&Observer::on_unknown, [&] {
        return UnknownEvent{target_->name(), owner_.text, UnknownEvent::Operation::release, reply.cause};
      });
    }
    carry_out(fsm_.on_reply(base::Clock::now(), reply));
  }

  Runtime& runtime_;  // outlives the thread that runs this
  const std::shared_ptr<void> keep_;
  const std::shared_ptr<WireTarget> target_;
  const WireTarget::Returned what_;
  const milliseconds repeated_;  // see time_of_repetition()
  const wire::Owner owner_;
  ReleaseFsm fsm_;
  const ReleaseDone done_;
  timing::Alarm alarm_{runtime_.loop().schedule(), [this] { carry_out(fsm_.on_time()); },
                       timing::Alarm::AtClose::rings};
  const Pending::Token pending_;
  std::vector<WireTarget::Heard> heard_before_;  // when it was last sent
  bool asked_ = false;                           // the latest one went behind an ASKING
  bool finished_ = false;
};

}  // namespace

void start_return(const std::shared_ptr<WireTarget>& target, WireTarget::Returned what, const wire::Owner& owner,
                  ReleaseFsm fsm, ReleaseDone done) {
  std::make_shared<ReleaseOp>(target, what, owner, fsm, std::move(done))->start();
}

}  // namespace holdfast::engine
