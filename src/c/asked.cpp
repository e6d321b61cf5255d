// SPDX-License-Identifier: Apache-2.0
#include "c/asked.hpp"

#include <utility>

#include <holdfast/detail/hold_access.hpp>

namespace holdfast::c {
namespace {

class Ended final : public detail::Receiver<Failure, LossReason> {
 public:
  explicit Ended(std::shared_ptr<Asked> asked) : asked_(std::move(asked)) {}
  void receive(Failure released, LossReason) override {
    const std::unique_ptr<Ended> self(this);
    asked_->end(released ? std::move(released) : Failure(Error(Errc::lost, {}, {}, {})));
  }
  void drop() noexcept override { const std::unique_ptr<Ended> self(this); }

 private:
  const std::shared_ptr<Asked> asked_;
};

}  // namespace

/// Whoever takes it from those that wait tells it.
class Asked::Wait final : public detail::Operation {
 public:
  Wait(std::shared_ptr<Asked> asked, ReceiverPtr receiver) : asked_(std::move(asked)), receiver_(std::move(receiver)) {}

  void start() override { asked_->settle(); }
  void cancel() noexcept override {
    if (asked_->take(*this)) tell(Failure(Error(Errc::cancelled, {}, {}, {})), 0);
  }
  void abandon() noexcept override {
    if (asked_->take(*this)) receiver_.reset();
  }
  void tell(Failure failure, std::int64_t times) { receiver_.release()->receive(std::move(failure), times); }

 private:
  const std::shared_ptr<Asked> asked_;
  ReceiverPtr receiver_;
};

std::shared_ptr<Asked> Asked::listen(Hold& hold) {
  auto asked = std::make_shared<Asked>();
  const detail::OperationPtr end = detail::make_wait_lost(detail::HoldAccess::held(hold),
                                                          detail::ReceiverPtr<Failure, LossReason>(new Ended(asked)));
  end->start();
  hold.on_asked([asked] { asked->hear(); });
  return asked;
}

detail::OperationPtr Asked::wait(ReceiverPtr receiver) {
  auto wait = std::make_shared<Wait>(shared_from_this(), std::move(receiver));
  const base::Guard guard(mutex_);
  waiting_.push_back(wait);
  return wait;
}

void Asked::hear() noexcept {
  {
    const base::Guard guard(mutex_);
    ++unheard_;
  }
  settle();
}

void Asked::end(Failure why) noexcept {
  {
    const base::Guard guard(mutex_);
    ended_ = std::move(why);
  }
  settle();
}

void Asked::settle() noexcept {
  std::vector<std::shared_ptr<Wait>> told;
  Failure failure;
  std::int64_t times = 0;
  {
    const base::Guard guard(mutex_);
    if (waiting_.empty() || (unheard_ == 0 && !ended_)) return;
    told.swap(waiting_);
    failure = ended_;
    times = std::exchange(unheard_, 0);
  }
  for (const std::shared_ptr<Wait>& each : told) each->tell(failure, times);
}

bool Asked::take(const Wait& wait) noexcept {
  const base::Guard guard(mutex_);
  return std::erase_if(waiting_, [&](const auto& each) { return each.get() == &wait; }) > 0;
}

}  // namespace holdfast::c
