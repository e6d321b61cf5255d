// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/release_fsm.hpp"

namespace holdfast::engine {

ReleaseAction ReleaseFsm::finish(ReleaseOutcome outcome, std::string cause) {
  return {.kind = ReleaseAction::Kind::finish, .outcome = outcome, .cause = std::move(cause)};
}

ReleaseAction ReleaseFsm::on_reply(TimePoint now, const ReleaseReply& reply) {
  using Kind = ReleaseReply::Kind;
  switch (reply.kind) {
    case Kind::deleted:
      return {.kind = ReleaseAction::Kind::finish, .outcome = ReleaseOutcome::released, .listeners = reply.listeners};
    case Kind::absent:
      return finish(maybe_done_ && now < deadline_ ? ReleaseOutcome::released : ReleaseOutcome::was_lost);
    case Kind::wrong:
      return finish(ReleaseOutcome::was_lost, reply.cause);
    case Kind::closed:
      return finish(ReleaseOutcome::unknown, reply.cause);
    case Kind::error:
      maybe_done_ = true;
      if (++errors_ > 1) return finish(ReleaseOutcome::unknown, reply.cause);
      break;
    case Kind::unknown:
      maybe_done_ = true;
      break;
    case Kind::transient:
    case Kind::not_sent:
      break;
  }
  if (now >= give_up_) return finish(ReleaseOutcome::unknown, reply.cause);
  const Duration pause = std::min<Duration>(milliseconds(5) * (1 << std::min(pauses_++, 8)), std::chrono::seconds(1));
  return {.kind = ReleaseAction::Kind::pause, .until = now + pause, .cause = reply.cause};
}

}  // namespace holdfast::engine
