#include <algorithm>

#include <holdfast/hold.hpp>

#include "engine/hold/hold_release.hpp"
#include "engine/hold/tenancy.hpp"
#include "face/outcome.hpp"

namespace holdfast {

Hold::Hold(std::shared_ptr<engine::Claim> held) noexcept : held_(std::move(held)) {}

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    end();
    held_ = std::move(other.held_);
    outcome_ = other.outcome_;
    loss_ = other.loss_;
    waits_ = other.waits_;
  }
  return *this;
}

Hold::~Hold() { end(); }

void Hold::end() noexcept {
  if (!held_) return;
  if (waits_) {
    engine::unlock(*held_);
  } else {
    engine::unlock_without_waiting(*held_);
  }
}

std::chrono::milliseconds Hold::valid_for() const noexcept {
  return held_ ? std::chrono::duration_cast<std::chrono::milliseconds>(held_->valid_for())
               : std::chrono::milliseconds{};
}

std::chrono::milliseconds Hold::durable_for() const noexcept {
  return held_ ? std::chrono::duration_cast<std::chrono::milliseconds>(held_->durable_for())
               : std::chrono::milliseconds{};
}

std::stop_token Hold::lost_token() const noexcept { return held_ ? held_->stop_token() : std::stop_token{}; }

HoldState Hold::state() const noexcept { return held_ ? held_->state() : HoldState::released; }

std::optional<LossReason> Hold::loss_reason() const noexcept { return held_ ? held_->loss_reason() : loss_; }

void Hold::throw_if_lost() const {
  if (!held_) throw Error(Errc::not_owner, {}, {}, "the hold is empty");
  face::require_valid(*held_);
}

std::string Hold::owner() const { return held_ ? held_->tenancy().owner().text : std::string(); }

std::optional<std::int64_t> Hold::token() const noexcept { return held_ ? held_->tenancy().token() : std::nullopt; }

std::string Hold::name() const { return held_ ? held_->target()->name() : std::string(); }

ReleaseOutcome Hold::release() noexcept {
  if (held_) {
    outcome_ = engine::release(*held_);
    loss_ = held_->loss_reason();
    held_.reset();
  }
  return outcome_;
}

ReleaseOutcome Hold::leave(std::chrono::milliseconds rest) noexcept {
  if (rest <= std::chrono::milliseconds{}) return release();
  if (held_) {
    outcome_ = engine::leave(*held_, std::min(rest, engine::kLongestLease));
    loss_ = held_->loss_reason();
    held_.reset();
  }
  return outcome_;
}

}  // namespace holdfast
