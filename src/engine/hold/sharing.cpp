#include "engine/hold/sharing.hpp"

#include <optional>
#include <utility>

#include <holdfast/error.hpp>

#include "engine/hold/claim.hpp"
#include "engine/hold/target.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/loop/result.hpp"
#include "engine/runtime/runtime.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {
namespace {

/// Asks until the server has answered: once more changes nothing. Keeps itself alive until then.
class Sharing final : public Loop::Task, public std::enable_shared_from_this<Sharing> {
 public:
  using Done = std::function<void(std::error_code)>;
  Sharing(std::shared_ptr<Claim> claim, Pending::Token pending, Done done)
      : claim_(std::move(claim)), done_(std::move(done)), pending_(std::move(pending)) {}

  void run() override {
    asked_ = claim_->begin_share();
    if (!asked_) return tell(Errc::lost);
    claim_->target()->share(claim_->tenancy().owner(), asked_->length,
                            renewal_timeout(asked_->length, runtime_.config().command_timeout),
                            [self = shared_from_this()](const Renewed& renewed) { self->on_answer(renewed); });
  }
  void broken() noexcept override {
    if (asked_) claim_->tenancy().on_extension_unanswered();
    tell(Errc::exhausted);
  }

 private:
  void on_answer(const Renewed& answer) noexcept {
    Tenancy& tenancy = claim_->tenancy();
    const TimePoint now = base::Clock::now();
    const HoldFsm::Extension asked = *std::exchange(asked_, {});
    if (answer.kind != Renewed::Kind::extended) tenancy.on_extension_unanswered();
    switch (answer.kind) {
      case Renewed::Kind::extended:
        tenancy.on_shared(asked, answer.sent_at, now);
        claim_->target()->as_target().wake();  // readers who wait may join
        return tell(tenancy.ended() ? std::error_code(Errc::lost) : std::error_code());
      case Renewed::Kind::gone:
        tenancy.end_share();
        tenancy.on_gone(answer.sent_at, now);
        claim_->target()->keeper().disarm(tenancy);
        return tell(Errc::lost);
      case Renewed::Kind::unanswered:
        break;
    }
    if (!runtime_.loop().inside() || runtime_.unusable() || !claim_->stands()) return tell(Errc::unknown_outcome);
    again_.set_after(retry_after(tenancy.lease()), shared_from_this());
  }
  void run_again() noexcept {
    try {
      run();
    } catch (...) {
      broken();
    }
  }
  void tell(std::error_code error) noexcept {
    tell_once(done_, error);
    pending_ = {};
  }

  const std::shared_ptr<Claim> claim_;
  Runtime& runtime_ = *claim_->runtime();
  std::optional<HoldFsm::Extension> asked_;  // as long as it is not answered: it sets the lease, too
  Done done_;
  Pending::Token pending_;
  timing::Alarm again_{runtime_.loop().schedule(), [this] { run_again(); }, timing::Alarm::AtClose::rings};
};

}  // namespace

void share_async(Claim& claim, std::function<void(std::error_code)> done) {
  Runtime& runtime = *claim.runtime();
  Runtime::Admission admission = runtime.admit();
  if (admission.refused) return done(admission.refused);
  const auto sharing = std::make_shared<Sharing>(claim.self(), std::move(admission.token), std::move(done));
  runtime.loop().post_from_caller(sharing, Loop::Pace::at_once);
}

std::error_code share(Claim& claim) noexcept {
  Runtime& runtime = *claim.runtime();
  if (runtime.in_child()) return Errc::forked;
  try {
    OwnLoop* const loop = runtime.own_loop();
    if (loop == nullptr) {
      share_async(claim, {});
      return Errc::unknown_outcome;
    }
    Runtime::Admission admission = runtime.admit();
    if (admission.refused) return admission.refused;
    const TimePoint until = base::Clock::now() + claim.valid_for();
    return await_result<std::error_code>(*loop, until,
                                         [&](auto done) {
                                           return std::make_shared<Sharing>(claim.self(), std::move(admission.token),
                                                                            std::move(done));
                                         })
        .value_or(Errc::unknown_outcome);
  } catch (...) {
    return Errc::exhausted;
  }
}

}  // namespace holdfast::engine
