// Changes of holds without blocking: extend, adopt, downgrade; and releasing all holds of a client.
#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/error.hpp>

#include "engine/acquire/acquire.hpp"
#include "engine/client/closing.hpp"
#include "engine/client/core.hpp"
#include "engine/hold/changes.hpp"
#include "engine/hold/hold_release.hpp"
#include "engine/hold/tenancy.hpp"
#include "face/parts.hpp"
#include "face/receiving.hpp"
#include "face/travel.hpp"
#include "timing/alarm.hpp"

namespace holdfast::detail {
namespace {

using engine::Loop;
using face::Receiving;

/// A change of a hold that is sent when it starts, and continues if it is cancelled.
template <class... Results>
class AsyncChange : public Operation, public std::enable_shared_from_this<AsyncChange<Results...>> {
 public:
  AsyncChange(std::shared_ptr<engine::Runtime> runtime, ReceiverPtr<Failure, Results...> receiver)
      : runtime_(std::move(runtime)), receiving_(std::move(receiver)) {}

  void start() final {
    if (runtime_->in_child()) return fail(make_error_code(Errc::forked), {});
    attended_ = Loop::Attended(runtime_->loop());
    begin();
  }
  void cancel() noexcept final {
    runtime_->loop().defer([self = this->shared_from_this()] { self->fail(make_error_code(Errc::cancelled), {}); });
  }
  void abandon() noexcept final { receiving_.drop(); }

 protected:
  virtual void begin() = 0;
  /// What the hold is of.
  virtual const engine::Target& target() const = 0;
  const std::shared_ptr<engine::Runtime>& runtime() const { return runtime_; }
  bool waits() const { return receiving_.waits(); }
  void tell(Results... results) {
    receiving_.tell({}, std::move(results)...);
    attended_ = {};
  }
  void fail(std::error_code error, std::string cause) {
    receiving_.tell(Failure(face::error_about(target(), error, std::move(cause))), Results()...);
    attended_ = {};
  }

 private:
  const std::shared_ptr<engine::Runtime> runtime_;
  Receiving<Failure, Results...> receiving_;
  Loop::Attended attended_;
};

class AsyncExtend final : public AsyncChange<> {
 public:
  AsyncExtend(const std::shared_ptr<Claim>& held, std::chrono::milliseconds lease, ReceiverPtr<Failure> receiver)
      : AsyncChange(held->runtime(), std::move(receiver)), held_(held), lease_(lease) {}

 private:
  void begin() override {
    engine::extend_async(*held_, lease_, [self = shared_from_this(), this](engine::Extension extension) {
      if (extension.error) return fail(extension.error, std::move(extension.cause));
      tell();
    });
  }
  const engine::Target& target() const override { return *held_->target(); }

  const std::shared_ptr<Claim> held_;
  const std::chrono::milliseconds lease_;
};

class AsyncDowngrade final : public AsyncChange<> {
 public:
  AsyncDowngrade(const std::shared_ptr<Claim>& held, ReceiverPtr<Failure> receiver)
      : AsyncChange(held->runtime(), std::move(receiver)), held_(held) {}

 private:
  void begin() override {
    engine::share_async(*held_, [self = shared_from_this(), this](std::error_code error) {
      if (error) return fail(error, {});
      tell();
    });
  }
  const engine::Target& target() const override { return *held_->target(); }

  const std::shared_ptr<Claim> held_;
};

class AsyncAdopt final : public AsyncChange<Hold> {
 public:
  AsyncAdopt(const Parts& parts, face::Adoption adoption, ReceiverPtr<Failure, Hold> receiver)
      : AsyncChange(parts.runtime, std::move(receiver)), target_(parts.target), adoption_(std::move(adoption)) {}

 private:
  void begin() override {
    engine::adopt_async(runtime(), target_, std::move(adoption_.grant), adoption_.lease, adoption_.on_lost,
                        [self = shared_from_this(), this](engine::Acquired adopted) {
                          if (adopted.error) return fail(adopted.error, std::move(adopted.cause));
                          // The ticket can be tried again.
                          if (!waits()) return static_cast<void>(engine::detach(*adopted.held));
                          tell(HoldAccess::make_unwaiting(std::move(adopted.held)));
                        });
  }

  const engine::Target& target() const override { return *target_; }

  const std::shared_ptr<engine::Target> target_;
  face::Adoption adoption_;
};

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
  try {
    face::require_extendable(held, lease);
    return std::make_shared<AsyncExtend>(held, lease, std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure>(std::move(receiver), Failure(error));
  }
}

OperationPtr make_adopt(const PartsPtr& parts, const std::string& ticket, const AcquireOptions& options,
                        ReceiverPtr<Failure, Hold> receiver) {
  try {
    return std::make_shared<AsyncAdopt>(*parts, face::adoption_of(*parts, ticket, options), std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure, Hold>(std::move(receiver), Failure(error), {});
  }
}

OperationPtr make_downgrade(const PartsPtr& parts, const std::shared_ptr<Claim>& held, ReceiverPtr<Failure> receiver) {
  try {
    if (face::reads_already(*parts->target, held)) return face::make_told<Failure>(std::move(receiver), Failure());
    return std::make_shared<AsyncDowngrade>(held, std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure>(std::move(receiver), Failure(error));
  }
}

OperationPtr make_release_all(const std::shared_ptr<Core>& core, std::chrono::milliseconds within,
                              ReceiverPtr<std::size_t> receiver) {
  return std::make_shared<AsyncReleaseAll>(core, within, std::move(receiver));
}

}  // namespace holdfast::detail
