#include "engine/hold/changes.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <holdfast/error.hpp>

#include "engine/hold/hold_events.hpp"
#include "engine/hold/target.hpp"
#include "engine/loop/own_loop.hpp"
#include "engine/runtime/runtime.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

/// Keeps itself alive until the server has answered, whether or not its caller still waits.
class Extending final : public Loop::Task, public std::enable_shared_from_this<Extending> {
 public:
  using Done = std::function<void(Extension)>;
  Extending(std::shared_ptr<Claim> claim, milliseconds lease, Pending::Token pending, Done done)
      : claim_(std::move(claim)), lease_(lease), done_(std::move(done)), pending_(std::move(pending)) {}

  void run() override {
    if (!claim_->stands()) return tell({Errc::lost});
    Tenancy& tenancy = claim_->tenancy();
    extension_ = tenancy.begin_extension(Clock::now(), lease_);
    const std::shared_ptr<Tenancy> keep = tenancy.shared_from_this();
    claim_->target()->arm(keep);
    claim_->target()->renew(keep, lease_,
                            [self = shared_from_this()](const Renewed& renewed) { self->on_answer(renewed); });
  }
  void broken() noexcept override {
    if (extension_) claim_->tenancy().on_extension_unanswered();
    tell({Errc::exhausted});
  }

 private:
  void on_answer(const Renewed& renewed) {
    Tenancy& tenancy = claim_->tenancy();
    if (renewed.kind != Renewed::Kind::extended) tenancy.on_extension_unanswered();
    switch (renewed.kind) {
      case Renewed::Kind::extended:
        on_extended(tenancy, *extension_, renewed.sent_at, Clock::now(), renewed.acks_era);
        if (!claim_->stands()) return tell({Errc::lost});
        claim_->target()->arm(tenancy.shared_from_this());
        return tell({});
      case Renewed::Kind::gone:
        if (!on_gone(tenancy, renewed.sent_at, Clock::now())) break;
        return tell({Errc::lost});
      case Renewed::Kind::unanswered:
        break;
    }
    tell({Errc::unknown_outcome, renewed.cause});
  }
  void tell(Extension what) noexcept {
    tell_once(done_, std::move(what));
    pending_ = {};
  }

  const std::shared_ptr<Claim> claim_;
  const milliseconds lease_;
  std::optional<HoldFsm::Extension> extension_;  // once it is begun
  Done done_;
  Pending::Token pending_;
};

}  // namespace

Extension extend(Claim& claim, milliseconds lease) {
  Runtime& runtime = *claim.runtime();
  runtime.require_waiting(claim.target()->name());
  Runtime::Admission admission = runtime.admit();
  if (admission.refused) return {admission.refused};
  const TimePoint until = Clock::now() + runtime.config().command_timeout;
  return await_result<Extension>(*runtime.own_loop(), until,
                                 [&](auto done) {
                                   return std::make_shared<Extending>(claim.self(), lease, std::move(admission.token),
                                                                      std::move(done));
                                 })
      .value_or(Extension{Errc::unknown_outcome});
}

void extend_async(Claim& claim, milliseconds lease, std::function<void(Extension)> done) {
  Runtime& runtime = *claim.runtime();
  Runtime::Admission admission = runtime.admit();
  if (admission.refused) return done({admission.refused});
  runtime.loop().post_from_caller(
      std::make_shared<Extending>(claim.self(), lease, std::move(admission.token), std::move(done)),
      Loop::Pace::at_once);
}

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
        on_shared(tenancy, asked, answer.sent_at, now);
        claim_->target()->wake();  // readers who wait may join
        return tell(tenancy.ended() ? std::error_code(Errc::lost) : std::error_code());
      case Renewed::Kind::gone:
        tenancy.end_share();
        on_gone(tenancy, answer.sent_at, now);
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
    const TimePoint until = base::Clock::now() + valid_for(claim);
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
