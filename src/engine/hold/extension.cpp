#include "engine/hold/extension.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <holdfast/error.hpp>

#include "engine/hold/acquirable.hpp"
#include "engine/hold/claim.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/loop/result.hpp"
#include "engine/runtime/runtime.hpp"

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
    claim_->target()->keeper().arm(keep);
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
    Keeper& keeper = claim_->target()->keeper();
    if (renewed.kind != Renewed::Kind::extended) tenancy.on_extension_unanswered();
    switch (renewed.kind) {
      case Renewed::Kind::extended:
        tenancy.on_extended(*extension_, renewed.sent_at, Clock::now(), renewed.acks_era);
        if (!claim_->stands()) return tell({Errc::lost});
        keeper.arm(tenancy.shared_from_this());
        return tell({});
      case Renewed::Kind::gone:
        if (!tenancy.on_gone(renewed.sent_at, Clock::now())) break;
        keeper.disarm(tenancy);
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

}  // namespace holdfast::engine
