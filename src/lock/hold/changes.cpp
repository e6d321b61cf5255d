// SPDX-License-Identifier: Apache-2.0
#include "lock/hold/changes.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <holdfast/error.hpp>

#include "lock/hold/hold_events.hpp"
#include "lock/queue/target.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/job.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/alarm.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

class Extending final : public Job<Changed>, public std::enable_shared_from_this<Extending> {
 public:
  Extending(std::shared_ptr<Claim> claim, milliseconds lease) : claim_(std::move(claim)), lease_(lease) {}

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

  const std::shared_ptr<Claim> claim_;
  const milliseconds lease_;
  std::optional<HoldFsm::Extension> extension_;  // once it is begun
};

/// Asks until the server has answered: once more changes nothing.
class Sharing final : public Job<Changed>, public std::enable_shared_from_this<Sharing> {
 public:
  explicit Sharing(std::shared_ptr<Claim> claim) : claim_(std::move(claim)) {}

  void run() override {
    asked_ = claim_->begin_share();
    if (!asked_) return tell({Errc::lost});
    claim_->target()->share(claim_->tenancy().owner(), asked_->length,
                            renewal_timeout(asked_->length, runtime_.config().timing.command_timeout),
                            [self = shared_from_this()](const Renewed& renewed) { self->on_answer(renewed); });
  }
  void broken() noexcept override {
    if (asked_) claim_->tenancy().on_extension_unanswered();
    tell({Errc::exhausted});
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
        return tell({tenancy.ended() ? std::error_code(Errc::lost) : std::error_code()});
      case Renewed::Kind::gone:
        tenancy.end_share();
        on_gone(tenancy, answer.sent_at, now);
        return tell({Errc::lost});
      case Renewed::Kind::unanswered:
        break;
    }
    if (!runtime_.loop().inside() || runtime_.unusable() || !claim_->stands()) return tell({Errc::unknown_outcome});
    again_.set_after(retry_after(tenancy.lease()), shared_from_this());
  }
  void run_again() noexcept {
    try {
      run();
    } catch (...) {
      broken();
    }
  }

  const std::shared_ptr<Claim> claim_;
  Runtime& runtime_ = *claim_->runtime();
  std::optional<HoldFsm::Extension> asked_;  // as long as it is not answered: it sets the lease, too
  timing::Alarm again_{runtime_.loop().schedule(), [this] { run_again(); }, timing::Alarm::AtClose::rings};
};

}  // namespace

Changed extend(Claim& claim, milliseconds lease) {
  Runtime& runtime = *claim.runtime();
  runtime.require_waiting(claim.target()->name());
  const TimePoint until = Clock::now() + runtime.config().timing.command_timeout;
  return Extending::ask(runtime, std::make_shared<Extending>(claim.self(), lease), until)
      .value_or(Changed{Errc::unknown_outcome});
}

void extend_async(Claim& claim, milliseconds lease, std::function<void(Changed)> done) {
  Extending::ask(*claim.runtime(), std::make_shared<Extending>(claim.self(), lease), std::move(done));
}

Changed share(Claim& claim) noexcept {
  Runtime& runtime = *claim.runtime();
  if (const std::error_code unusable = runtime.unusable()) return {unusable};
  try {
    if (runtime.own_loop() == nullptr) {
      share_async(claim, [](const Changed&) {});
      return {Errc::unknown_outcome};
    }
    return Sharing::ask(runtime, std::make_shared<Sharing>(claim.self()), Clock::now() + valid_for(claim))
        .value_or(Changed{Errc::unknown_outcome});
  } catch (...) {
    return {Errc::exhausted};
  }
}

void share_async(Claim& claim, std::function<void(Changed)> done) {
  Sharing::ask(*claim.runtime(), std::make_shared<Sharing>(claim.self()), std::move(done));
}

}  // namespace holdfast::engine
