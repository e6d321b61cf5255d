// SPDX-License-Identifier: Apache-2.0
// Changes of holds without blocking: extend, adopt, downgrade; and releasing all holds of a client.
#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/error.hpp>

#include "face/parts.hpp"
#include "face/queries.hpp"
#include "face/travel.hpp"
#include "lock/client/closing.hpp"
#include "lock/client/core.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/hold/changes.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/queue/tenancy.hpp"
#include "loop/alarm.hpp"

namespace holdfast::detail {
namespace {

using engine::Loop;
using face::Receiving;

/// A change of a hold that is sent when it starts, and continues if it is cancelled. `Begin` gets this object.
template <class Begin, class... Results>
class AsyncChange final : public Operation, public std::enable_shared_from_this<AsyncChange<Begin, Results...>> {
 public:
  AsyncChange(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<const engine::Target> target, Begin begin,
              ReceiverPtr<Failure, Results...> receiver)
      : runtime_(std::move(runtime)),
        target_(std::move(target)),
        begin_(std::move(begin)),
        receiving_(std::move(receiver)) {}

  void start() override {
    if (runtime_->in_child()) return fail(make_error_code(Errc::forked), {});
    attended_ = Loop::Attended(runtime_->loop());
    begin_(this->shared_from_this());
  }
  void cancel() noexcept override {
    runtime_->loop().defer([self = this->shared_from_this()] { self->fail(make_error_code(Errc::cancelled), {}); });
  }
  void abandon() noexcept override { receiving_.drop(); }

  bool waits() const { return receiving_.waits(); }
  void tell(Results... results) {
    receiving_.tell({}, std::move(results)...);
    attended_ = {};
  }
  void fail(std::error_code error, std::string cause) {
    receiving_.tell(Failure(face::error_about(*target_, error, std::move(cause))), Results()...);
    attended_ = {};
  }

 private:
  const std::shared_ptr<engine::Runtime> runtime_;
  const std::shared_ptr<const engine::Target> target_;
  Begin begin_;
  Receiving<Failure, Results...> receiving_;
  Loop::Attended attended_;
};

/// `change(claim, done)` begins it.
template <class Change>
OperationPtr make_change(const std::shared_ptr<Claim>& held, Change change, ReceiverPtr<Failure> receiver) {
  auto begin = [held, change = std::move(change)](const auto& self) {
    change(*held, [self](engine::Changed changed) {
      if (changed.error) return self->fail(changed.error, std::move(changed.cause));
      self->tell();
    });
  };
  return std::make_shared<AsyncChange<decltype(begin)>>(held->runtime(), held->target(), std::move(begin),
                                                        std::move(receiver));
}

class AsyncReleaseAll final : public Loop::Task,
                              public Operation,
                              public std::enable_shared_from_this<AsyncReleaseAll> {
 public:
  AsyncReleaseAll(const std::shared_ptr<Core>& core, std::chrono::milliseconds within,
                  ReceiverPtr<std::size_t> receiver)
      : core_(core),
        within_(within),
        receiving_(std::move(receiver)),
        limit_(core->runtime().loop().schedule(), [this] { tell_so_far(); }) {}

  void start() override {
    engine::Runtime::Admission admission = core_->runtime().admit();
    if (admission.refused) return tell(0);
    pending_ = std::move(admission.token);
    attended_ = Loop::Attended(core_->runtime().loop());
    core_->runtime().loop().post(shared_from_this());
  }
  void run() override {
    limit_.set_after(within_, shared_from_this());
    unconfirmed_ = engine::give_back_all_async(*core_, [self = shared_from_this()](std::size_t unconfirmed) {
      self->limit_.cancel();
      self->tell(unconfirmed);
    });
    pending_ = {};
  }
  void broken() noexcept override {
    try {
      tell_so_far();
    } catch (...) {
      // Out of memory: the receiver is dropped.
    }
  }
  void cancel() noexcept override {
    core_->runtime().loop().defer([self = shared_from_this()] { self->tell_so_far(); });
  }
  void abandon() noexcept override { receiving_.drop(); }

 private:
  void tell(std::size_t unconfirmed) {
    receiving_.tell(unconfirmed);
    attended_ = {};
    pending_ = {};
  }
  void tell_so_far() { tell(unconfirmed_ ? unconfirmed_->load() : 0); }

  const std::shared_ptr<Core> core_;
  const std::chrono::milliseconds within_;
  Receiving<std::size_t> receiving_;
  std::shared_ptr<const std::atomic<std::size_t>> unconfirmed_;  // null: nothing has been sent
  engine::Pending::Token pending_;
  Loop::Attended attended_;
  timing::Alarm limit_;
};

}  // namespace

OperationPtr make_extend(const std::shared_ptr<Claim>& held, std::chrono::milliseconds lease,
                         ReceiverPtr<Failure> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure>& whom) {
    face::require_extendable(held, lease);
    const auto extend = [lease](Claim& claim, auto done) { engine::extend_async(claim, lease, std::move(done)); };
    return make_change(held, extend, std::move(whom));
  });
}

OperationPtr make_adopt(const PartsPtr& parts, const std::string& ticket, const AdoptOptions& options,
                        ReceiverPtr<Failure, Hold> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure, Hold>& whom) {
    const bool waits = parts->defaults && parts->defaults->end_waits.value_or(false);
    auto begin = [parts, waits, adoption = face::adoption_of(*parts, ticket, options)](const auto& self) mutable {
      engine::adopt_async(parts->runtime, parts->target, std::move(adoption.grant), adoption.lease, adoption.on_lost,
                          [self, waits](engine::Acquired adopted) {
                            if (adopted.error) return self->fail(adopted.error, std::move(adopted.cause));
                            // The ticket can be tried again.
                            if (!self->waits()) return static_cast<void>(engine::detach(*adopted.held));
                            self->tell(HoldAccess::make(std::move(adopted.held), waits));
                          });
    };
    return std::make_shared<AsyncChange<decltype(begin), Hold>>(parts->runtime, parts->target, std::move(begin),
                                                                std::move(whom));
  });
}

OperationPtr make_downgrade(const PartsPtr& parts, const std::shared_ptr<Claim>& held, ReceiverPtr<Failure> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure>& whom) {
    if (face::reads_already(*parts->target, held)) return face::make_told<Failure>(std::move(whom), Failure());
    const auto share = [](Claim& claim, auto done) { engine::share_async(claim, std::move(done)); };
    return make_change(held, share, std::move(whom));
  });
}

OperationPtr make_release_all(const std::shared_ptr<Core>& core, std::chrono::milliseconds within,
                              ReceiverPtr<std::size_t> receiver) {
  return std::make_shared<AsyncReleaseAll>(core, within, std::move(receiver));
}

}  // namespace holdfast::detail
