#include "engine/hold/renewals.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "engine/hold/holding.hpp"
#include "engine/runtime/runtime.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::engine {

using base::Clock;

Renewals::Renewals(Runtime& runtime, Confirmations& confirmations, Done done)
    : runtime_(runtime), confirmations_(confirmations), done_(std::move(done)) {}

void Renewals::ask_for(const Holds& holds, When when) noexcept {
  try {
    try_to_ask_for(holds, when);
  } catch (...) {
    unanswered(holds, Clock::now());
  }
}

void Renewals::unanswered(const Holds& holds, TimePoint now) noexcept {
  for (const std::shared_ptr<Holding>& hold : holds) hold->on_unanswered(now, {});
}

void Renewals::try_to_ask_for(const Holds& holds, When when) {
  const TimePoint now = Clock::now();
  // One command is for one server, one kind and one lease; there are few of each.
  struct Batch {
    const redis::Shard* shard;
    const Plan* plan;
    milliseconds lease;
    Acks acks;
    std::size_t locks = 0;
    Holds holds{};
  };
  std::vector<Batch> batches;
  for (const std::shared_ptr<Holding>& hold : holds) {
    const Duration window = when == When::soon ? batching_window(hold->lease()) : Duration{};
    if (hold->on_time(now, window) != HoldFsm::Todo::renew) continue;
    const Target& target = *hold->target();
    const redis::Shard* const shard = target.batched_on();
    if (shard == nullptr) {
      renew_alone(hold, now);
      continue;
    }
    const auto fits = [&](const Batch& batch) {
      return batch.shard == shard && batch.plan == &target.plan() && batch.lease == hold->lease() &&
             batch.acks == hold->acks();
    };
    auto batch = std::ranges::find_if(batches, fits);
    if (batch == batches.end())
      batch = batches.insert(batch, Batch{shard, &target.plan(), hold->lease(), hold->acks()});
    batch->holds.push_back(hold);
    batch->locks += target.batched_locks();
    if (batch->locks >= runtime_.config().renewal_batch) {
      renew(std::exchange(batch->holds, {}), now);
      batch->locks = 0;
    }
  }
  for (Batch& batch : batches) {
    if (!batch.holds.empty()) renew(std::move(batch.holds), now);
  }
}

void Renewals::renew(Holds batch, TimePoint now) {
  std::vector<wire::Renewal> renewals;
  renewals.reserve(batch.size());
  const milliseconds lease = batch.front()->lease();
  Duration late{};
  for (const std::shared_ptr<Holding>& hold : batch) {
    hold->target()->add_renewals(renewals, hold->owner());
    late = std::max(late, hold->lateness(now));
  }
  Reporter::add(runtime_.reporter().count.renewal_batches);
  if (batch.front()->acks().wanted()) return renew_with_acks(std::move(batch), std::move(renewals), late);
  const Plan& plan = batch.front()->target()->plan();
  auto request = redis::Request::of(plan.transitions.renew(renewals, lease),
                                    renewal_timeout(lease, runtime_.config().command_timeout));
  runtime_.send(std::move(request), [this, keep = runtime_.keep_alive(), batch = std::move(batch),
                                     late](const redis::Result& result) { on_reply(batch, result, late); });
}

void Renewals::renew_with_acks(Holds batch, std::vector<wire::Renewal> renewals, Duration late) {
  const Holding& first = *batch.front();
  redis::Shard& shard = *first.target()->batched_on();
  const Acks acks = first.acks();
  Confirm confirm = confirmations_.confirm_of(renewal_timeout(first.lease(), runtime_.config().command_timeout));
  confirm.renewals = std::move(renewals);
  confirm.plan = &first.target()->plan();
  confirm.lease = first.lease();
  confirm.done = [this, batch = std::move(batch), late](const Confirmed& confirmed) {
    on_confirmed(batch, confirmed, late);
  };
  confirmations_.ask(shard, acks, std::move(confirm));
}

void Renewals::renew_alone(const std::shared_ptr<Holding>& hold, TimePoint now) {
  Reporter::add(runtime_.reporter().count.renewal_batches);
  hold->target()->renew(hold,
                        [this, weak = runtime_.client(), hold, late = hold->lateness(now)](const Renewed& renewed) {
                          // It may be another client's thread that says so, perhaps after this client has closed.
                          const std::shared_ptr<void> client = weak.lock();
                          if (!client || runtime_.unusable()) return;
                          runtime_.loop().defer([this, still = std::weak_ptr(hold), renewed, late] {
                            if (const auto armed = still.lock()) on_renewed_alone(armed, renewed, late);
                          });
                        });
}

void Renewals::on_renewed_alone(const std::shared_ptr<Holding>& hold, const Renewed& renewed, Duration late) {
  const TimePoint now = Clock::now();
  switch (renewed.kind) {
    case Renewed::Kind::extended:
      Reporter::add(runtime_.reporter().count.renewals);
      runtime_.reporter().tell(&Observer::on_renewed, [&] { return RenewedEvent{1, late}; });
      hold->on_renewed(renewed.sent_at, now, renewed.acks_era);
      break;
    case Renewed::Kind::gone:
      hold->on_gone();
      break;
    case Renewed::Kind::unanswered:
      Reporter::add(runtime_.reporter().count.renewal_failures);
      hold->on_unanswered(now, renewed.cause);
      break;
  }
  done_(Holds(1, hold));
}

void Renewals::on_reply(const Holds& batch, const redis::Result& result, Duration late) noexcept {
  try {
    read_reply(batch, result, late);
  } catch (...) {
    unanswered(batch, Clock::now());
  }
  done_(batch);
}

void Renewals::read_reply(const Holds& batch, const redis::Result& result, Duration late) {
  Known known{.cause = result.cause, .sent_at = result.sent_at};
  if (result.delivery == redis::Delivery::answered) {
    std::size_t locks = 0;
    for (const std::shared_ptr<Holding>& hold : batch) locks += hold->target()->batched_locks();
    known.extended = wire::decode_renew(result.replies.front(), locks);
    if (known.extended.empty()) {
      known.cause = result.replies.front().text;
      known.denied = redis::classify(known.cause).code == Errc::denied;
    }
  }
  tell(batch, known, late);
}

void Renewals::on_confirmed(const Holds& batch, const Confirmed& confirmed, Duration late) noexcept {
  try {
    tell(batch,
         {.extended = confirmed.extended,
          .cause = confirmed.cause,
          .denied = confirmed.error == Errc::denied,
          .sent_at = confirmed.sent_at,
          .confirmed = confirmed.acked,
          .acks_era = confirmed.era},
         late);
  } catch (...) {
    unanswered(batch, Clock::now());
  }
  done_(batch);
}

void Renewals::tell(const Holds& batch, const Known& known, Duration late) {
  const TimePoint now = Clock::now();
  const bool answered = !known.extended.empty();
  // The server checks all keys of a script before it runs: one that is not permitted any more must not cost the
  // others.
  if (!answered && known.denied && batch.size() > 1) {
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    renew(Holds(batch.begin(), middle), now);
    renew(Holds(middle, batch.end()), now);
    return;
  }
  if (!answered || !known.confirmed) Reporter::add(runtime_.reporter().count.renewal_failures);
  std::size_t renewed = 0;
  auto next = known.extended.cbegin();
  for (const std::shared_ptr<Holding>& hold : batch) {
    const auto first = next;
    if (answered) next += static_cast<std::ptrdiff_t>(hold->target()->batched_locks());
    if (answered && std::find(first, next, false) != next) {
      hold->on_gone();
    } else if (!answered || !known.confirmed) {
      hold->on_unanswered(now, known.cause);
    } else {
      ++renewed;
      hold->on_renewed(known.sent_at, now, known.acks_era);
    }
  }
  Reporter::add(runtime_.reporter().count.renewals, renewed);
  if (renewed > 0) runtime_.reporter().tell(&Observer::on_renewed, [&] { return RenewedEvent{renewed, late}; });
}

}  // namespace holdfast::engine
