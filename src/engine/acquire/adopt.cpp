#include "engine/acquire/adopt.hpp"

#include <utility>

#include <holdfast/error.hpp>

#include "engine/hold/tenancy.hpp"
#include "engine/loop/result.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

/// Keeps itself alive until the server has answered.
class Adopting final : public Loop::Task, public std::enable_shared_from_this<Adopting> {
 public:
  using Done = std::function<void(Acquired)>;
  Adopting(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, wire::Grant grant, const LeaseTerms& lease,
           const std::function<void(const LostEvent&)>& on_lost, Pending::Token pending, Done done)
      : runtime_(std::move(runtime)),
        target_(std::move(target)),
        grant_(std::move(grant)),
        lease_(lease),
        on_lost_(on_lost),
        done_(std::move(done)),
        pending_(std::move(pending)) {}

  void run() override {
    const TimePoint now = Clock::now();
    const wire::Owner owner = grant_.owner;
    tenancy_ = std::make_shared<Tenancy>(runtime_, target_, owner, owner.ask, now, lease_, on_lost_,
                                         std::make_unique<const wire::Grant>(std::move(grant_)));
    target_->renew(tenancy_, lease_.length,
                   [self = shared_from_this()](const Renewed& renewed) { self->on_answer(renewed); });
  }
  void broken() noexcept override { tell({nullptr, Errc::exhausted, {}}); }

 private:
  void on_answer(const Renewed& renewed) {
    const std::shared_ptr<Tenancy> tenancy = std::move(tenancy_);
    switch (renewed.kind) {
      case Renewed::Kind::extended:
        return on_extended(tenancy, renewed);
      case Renewed::Kind::gone:
        return tell({nullptr, Errc::lost, "the server says that it is not this owner's"});
      case Renewed::Kind::unanswered:
        break;
    }
    tell({nullptr, Errc::unknown_outcome, renewed.cause});
  }
  void on_extended(const std::shared_ptr<Tenancy>& tenancy, const Renewed& renewed) {
    if (Clock::now() >= lease_end(renewed.sent_at, lease_.length)) {
      return tell({nullptr, Errc::unknown_outcome, "the answer came after the lease was over"});
    }
    tenancy->on_renewed(renewed.sent_at, Clock::now(), renewed.acks_era);
    target_->set_tenancy(*tenancy, 0);
    target_->keeper().arm(tenancy);
    report_granted(runtime_->reporter(), *tenancy->first_claim(), {});
    tell({tenancy->first_claim(), {}, {}});
  }
  void tell(Acquired what) noexcept {
    tell_once(done_, std::move(what));
    pending_ = {};
  }

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Target> target_;
  wire::Grant grant_;
  const LeaseTerms lease_;
  const std::function<void(const LostEvent&)> on_lost_;
  Done done_;
  Pending::Token pending_;
  std::shared_ptr<Tenancy> tenancy_;  // until the server has confirmed it
};

}  // namespace

Acquired adopt(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
               const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost) {
  runtime->require_waiting(target->name());
  Runtime::Admission admission = runtime->admit();
  if (admission.refused) return {nullptr, admission.refused, {}};
  std::optional<Acquired> adopted = await_result<Acquired>(*runtime->own_loop(), TimePoint::max(), [&](auto done) {
    return std::make_shared<Adopting>(runtime, target, std::move(grant), lease, on_lost, std::move(admission.token),
                                      std::move(done));
  });
  if (!adopted) return {nullptr, runtime->in_child() ? Errc::forked : Errc::closed, {}};
  return *std::move(adopted);
}

void adopt_async(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
                 const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost,
                 std::function<void(Acquired)> done) {
  Runtime::Admission admission = runtime->admit();
  if (admission.refused) return done({nullptr, admission.refused, {}});
  runtime->loop().post_from_caller(std::make_shared<Adopting>(runtime, target, std::move(grant), lease, on_lost,
                                                              std::move(admission.token), std::move(done)),
                                   Loop::Pace::at_once);
}

}  // namespace holdfast::engine
