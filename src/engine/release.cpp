#include "engine/release.hpp"

#include <holdfast/error.hpp>

#include "engine/core.hpp"
#include "redis/errors.hpp"

namespace holdfast::engine {
namespace {

ReleaseReply judge(const Plan& plan, const redis::Result& result) {
  using Kind = ReleaseReply::Kind;
  if (result.delivery == redis::Delivery::unknown) return {Kind::unknown, result.cause};
  if (result.delivery == redis::Delivery::not_sent) {
    return {result.error == Errc::closed ? Kind::closed : Kind::not_sent, result.cause};
  }
  const base::Reply& reply = result.replies.front();
  if (!reply.is_error()) {
    const std::optional<std::int64_t> told = plan.decode_release(reply);
    return {told ? Kind::deleted : Kind::absent, {}, told.value_or(0)};
  }
  if (redis::classify(reply.text) == Errc::wrong_type) return {Kind::wrong, reply.text};
  const bool passing = redis::is_transient(reply.text) || redis::classify(reply.text) == Errc::read_only;
  return {passing ? Kind::passing : Kind::error, reply.text};
}

/// Keeps itself alive until it is finished.
class ReleaseOp : public std::enable_shared_from_this<ReleaseOp> {
 public:
  ReleaseOp(Core& core, std::shared_ptr<Site> site, wire::Owner owner, ReleaseFsm fsm, Target::ReleaseDone done)
      : core_(core),
        keep_(core.keep_alive()),
        site_(std::move(site)),
        owner_(std::move(owner)),
        fsm_(fsm),
        done_(std::move(done)),
        timer_(core.loop().executor()),
        pending_(core.pending().begin()) {}

  void carry_out(const ReleaseAction& action) {
    switch (action.kind) {
      case ReleaseAction::Kind::send:
        core_.send(redis::Request::of(site_->release_command(owner_), core_.config().command_timeout),
                   [self = shared_from_this()](const redis::Result& result) { self->on_result(result); });
        return;
      case ReleaseAction::Kind::pause:
        timer_.expires_at(action.until);
        core_.pauses().insert(&timer_);
        timer_.async_wait([self = shared_from_this()](boost::system::error_code) {
          self->core_.pauses().erase(&self->timer_);
          self->carry_out(self->fsm_.on_time());
        });
        return;
      case ReleaseAction::Kind::finish:
        done_({action.outcome, site_->others(action.told)});
        return;
    }
  }

  void start() { carry_out(fsm_.start()); }

 private:
  void on_result(const redis::Result& result) {
    const ReleaseReply reply = judge(site_->plan(), result);
    if (reply.kind == ReleaseReply::Kind::unknown || reply.kind == ReleaseReply::Kind::error) {
      Reporter::add(core_.reporter().count.unknown);
      core_.reporter().tell(&Observer::on_unknown,
                            [&] { return UnknownEvent{site_->name(), owner_.text, "release", reply.cause}; });
    }
    carry_out(fsm_.on_reply(base::Clock::now(), reply));
  }

  Core& core_;  // outlives the thread that runs this
  const std::shared_ptr<void> keep_;
  const std::shared_ptr<Site> site_;
  const wire::Owner owner_;
  ReleaseFsm fsm_;
  const Target::ReleaseDone done_;
  Core::Timer timer_;
  const Pending::Token pending_;
};

}  // namespace

void start_release(Core& core, const std::shared_ptr<Site>& site, const wire::Owner& owner, ReleaseFsm fsm,
                   Target::ReleaseDone done) {
  std::make_shared<ReleaseOp>(core, site, owner, fsm, std::move(done))->start();
}

}  // namespace holdfast::engine
