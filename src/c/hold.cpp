// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <holdfast/detail/handle_access.hpp>
#include <holdfast/detail/hold_access.hpp>

#include "c/handles.hpp"

using holdfast::Errc;
using holdfast::Error;
using holdfast::Failure;
using holdfast::Hold;
using holdfast::HoldState;
using holdfast::LossReason;
using holdfast::ReleaseOutcome;
using holdfast::c::given;
using holdfast::c::guarded;
using holdfast::c::start;
using holdfast::detail::HoldAccess;

static_assert(HF_RELEASED == static_cast<int>(ReleaseOutcome::released) &&
              HF_WAS_LOST == static_cast<int>(ReleaseOutcome::was_lost) &&
              HF_UNKNOWN == static_cast<int>(ReleaseOutcome::unknown) &&
              HF_LEFT == static_cast<int>(ReleaseOutcome::left) && HF_EMPTY == static_cast<int>(ReleaseOutcome::empty));
static_assert(HF_HELD == static_cast<int>(HoldState::held) && HF_SUSPECT == static_cast<int>(HoldState::suspect) &&
              HF_STATE_LOST == static_cast<int>(HoldState::lost) &&
              HF_STATE_RELEASED == static_cast<int>(HoldState::released) &&
              HF_STATE_EMPTY == static_cast<int>(HoldState::empty));
static_assert(HF_EXPIRED == static_cast<int>(LossReason::expired) && HF_TAKEN == static_cast<int>(LossReason::taken) &&
              HF_MAX_HOLD == static_cast<int>(LossReason::max_hold) &&
              HF_LOSS_CLOSED == static_cast<int>(LossReason::closed) &&
              HF_LOSS_FORKED == static_cast<int>(LossReason::forked));

hf_hold::hf_hold(Hold granted, holdfast::detail::PartsPtr of)
    : name(granted.name()),
      owner(granted.owner()),
      token(granted.token().value_or(0)),
      writer(std::move(of)),
      hold(std::move(granted)) {}

/// Throws Error(not_owner) once it has been given back, Error(forked) in a child.
std::shared_ptr<holdfast::engine::Claim> hf_hold::claim() const {
  if (fork.in_child()) throw Error(Errc::forked, name, {}, "the hold is the parent process's");
  const holdfast::base::Guard guard(mutex);
  if (!hold) throw Error(Errc::not_owner, name, {}, "the hold has been given back");
  return HoldAccess::held(hold);
}

std::shared_ptr<holdfast::c::Asked> hf_hold::asked() {
  claim();  // throws as it does
  const holdfast::base::Guard guard(mutex);
  if (!asking) asking = holdfast::c::Asked::listen(hold);
  return asking;
}

void hf_hold_free(hf_hold* hold) { delete hold; }

void hf_hold_clear(hf_hold** hold) {
  if (hold != nullptr) delete std::exchange(*hold, nullptr);
}

int hf_hold_release(hf_hold* hold, int* outcome) {
  return guarded([&] {
    const int how = given(hold, "hold").end_by([](Hold& ending) { return ending.release(); });
    if (outcome != nullptr) *outcome = how;
  });
}

int hf_hold_release_async(hf_hold* hold, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    hf_hold& from = given(hold, "hold");
    given(queue, "queue");
    from.claim();  // throws if it is empty
    start<ReleaseOutcome>(queue, tag, {from.name}, [&](auto receiver) {
      holdfast::detail::OperationPtr operation;
      from.end_by([&](Hold& ending) {
        operation = holdfast::detail::make_release(std::move(ending), std::move(receiver));
        return ReleaseOutcome::unknown;
      });
      return operation;
    });
  });
}

int hf_hold_leave(hf_hold* hold, int64_t rest_ms, int* outcome) {
  return guarded([&] {
    const int how =
        given(hold, "hold").end_by([&](Hold& ending) { return ending.leave(std::chrono::milliseconds(rest_ms)); });
    if (outcome != nullptr) *outcome = how;
  });
}

int hf_hold_extend(hf_hold* hold, int64_t lease_ms) {
  return guarded([&] {
    hf_hold& of = given(hold, "hold");
    const holdfast::base::Guard in_turn(of.changing);
    holdfast::c::Awaited::call([claim = of.claim(), lease_ms](auto receiver) {
      return holdfast::detail::make_extend(claim, std::chrono::milliseconds(lease_ms), std::move(receiver));
    });
  });
}

int hf_hold_extend_async(hf_hold* hold, int64_t lease_ms, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const auto claim = given(hold, "hold").claim();
    start<Failure>(queue, tag, {}, [&](auto receiver) {
      return holdfast::detail::make_extend(claim, std::chrono::milliseconds(lease_ms), std::move(receiver));
    });
  });
}

int hf_hold_detach(hf_hold* hold, char** ticket) {
  return guarded([&] {
    hf_hold& of = given(hold, "hold");
    char*& out = given(ticket, "ticket");
    of.claim();
    const holdfast::base::Guard in_turn(of.changing);
    const holdfast::base::Guard guard(of.mutex);
    out = holdfast::c::text_of(of.hold.detach());
  });
}

namespace {

/// Throws Error(invalid_argument) for a hold of another kind.
const holdfast::detail::PartsPtr& writer_of(const hf_hold& hold) {
  if (!hold.writer)
    throw Error(Errc::invalid_argument, hold.name, {}, "only a hold of HF_WRITE can become one of HF_READ");
  return hold.writer;
}

}  // namespace

int hf_hold_downgrade(hf_hold* hold) {
  return guarded([&] {
    hf_hold& of = given(hold, "hold");
    const auto& writer = writer_of(of);
    const holdfast::base::Guard in_turn(of.changing);
    holdfast::c::Awaited::call([claim = of.claim(), &writer](auto receiver) {
      return holdfast::detail::make_downgrade(writer, claim, std::move(receiver));
    });
  });
}

int hf_hold_downgrade_async(hf_hold* hold, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const hf_hold& of = given(hold, "hold");
    const auto& writer = writer_of(of);
    const auto claim = of.claim();
    start<Failure>(queue, tag, {},
                   [&](auto receiver) { return holdfast::detail::make_downgrade(writer, claim, std::move(receiver)); });
  });
}

int hf_hold_wait_lost_async(const hf_hold* hold, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const auto claim = given(hold, "hold").claim();
    start<Failure, LossReason>(
        queue, tag, {}, [&](auto receiver) { return holdfast::detail::make_wait_lost(claim, std::move(receiver)); });
  });
}

int hf_hold_wait_asked_async(hf_hold* hold, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    given(queue, "queue");
    const std::shared_ptr<holdfast::c::Asked> asked = given(hold, "hold").asked();
    start<Failure, std::int64_t>(queue, tag, {.undo = [asked] { asked->hear(); }},
                                 [&](auto receiver) { return asked->wait(std::move(receiver)); });
  });
}

int64_t hf_hold_valid_for(const hf_hold* hold) {
  return hold != nullptr ? hold->look([](const Hold& is) { return is.valid_for().count(); }) : 0;
}

int64_t hf_hold_durable_for(const hf_hold* hold) {
  return hold != nullptr ? hold->look([](const Hold& is) { return is.durable_for().count(); }) : 0;
}

int hf_hold_check(const hf_hold* hold) {
  return guarded([&] {
    const hf_hold& of = given(hold, "hold");
    if (of.fork.in_child()) throw Error(Errc::forked, of.name, {}, "the hold is the parent process's");
    of.look([](const Hold& is) {
      is.throw_if_lost();
      return true;
    });
  });
}

int hf_hold_state(const hf_hold* hold) {
  return static_cast<int>(hold != nullptr ? hold->look([](const Hold& is) { return is.state(); }) : HoldState::empty);
}

int hf_hold_loss_reason(const hf_hold* hold) {
  if (hold == nullptr) return -1;
  if (hold->fork.in_child()) return HF_LOSS_FORKED;
  const std::optional<LossReason> reason = hold->look([](const Hold& is) { return is.loss_reason(); });
  return reason ? static_cast<int>(*reason) : -1;
}

int64_t hf_hold_token(const hf_hold* hold) { return hold != nullptr ? hold->token : 0; }

const char* hf_hold_owner(const hf_hold* hold) { return hold != nullptr ? hold->owner.c_str() : ""; }

const char* hf_hold_name(const hf_hold* hold) { return hold != nullptr ? hold->name.c_str() : ""; }
