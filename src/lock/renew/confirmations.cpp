// SPDX-License-Identifier: Apache-2.0
#include "lock/renew/confirmations.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "base/location.hpp"
#include "kinds/server_calls.hpp"
#include "lock/runtime/runtime.hpp"
#include "redis/connection/health.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::engine {

ServerRefusal refusal_of(const base::Reply& reply) {
  if (!reply.is_error()) return {Errc::server_error, false, "a reply of an unexpected type"};
  // A redirect is shown as it came, for the router, which follows it.
  const bool elsewhere = redis::is_redirect(reply.text);
  const redis::Meaning meaning = redis::classify(reply.text);
  return {meaning.code, meaning.for_good(), elsewhere ? reply.text : redis::explain(reply.text),
          redis::refuses_a_key(reply.text), elsewhere};
}

CommitReply::Renewal read_renewal(const base::Reply& reply, std::size_t locks) {
  CommitReply::Renewal renewal{wire::decode_renew(reply, locks), {}};
  if (renewal.extended.empty()) renewal.refused = refusal_of(reply);
  return renewal;
}

Confirmed read_renewal(const redis::Result& result, std::size_t command, std::size_t locks) {
  Confirmed confirmed{.error = result.error, .cause = result.cause, .sent_at = result.sent_at};
  if (result.delivery != redis::Delivery::answered) return confirmed;
  CommitReply::Renewal renewal = read_renewal(result.replies[command], locks);
  confirmed.extended = std::move(renewal.extended);
  confirmed.acked = !confirmed.extended.empty();
  confirmed.error = renewal.refused.error;
  confirmed.cause = std::move(renewal.refused.cause);
  confirmed.for_one = renewal.refused.for_one;
  return confirmed;
}

Renewed as_renewed(const Confirmed& confirmed) {
  if (confirmed.gone()) return {Renewed::Kind::gone, confirmed.sent_at};
  if (!confirmed.acked) return {Renewed::Kind::unanswered, confirmed.sent_at, confirmed.cause};
  return {Renewed::Kind::extended, confirmed.sent_at, {}, confirmed.era};
}

using base::Clock;

namespace {

/// Servers end a WAIT up to a tenth of a second late (they look ten times a second when they are idle), and then the
/// reply is on its way.
constexpr Duration kLate = milliseconds(100);
constexpr Duration kForTheAnswer = milliseconds(50);
/// The pause where redirects and the map do not agree.
constexpr Duration kAskAgain = milliseconds(20);

CommitReply reply_of(const GroupCommit::Batch& batch, const redis::Result& result,
                     const std::vector<std::uint32_t>& eras, bool asking) {
  CommitReply reply;
  reply.batch = batch.number;
  reply.sent_at = result.sent_at;
  reply.cause = result.cause;
  if (result.delivery == redis::Delivery::not_sent) return reply;
  reply.kind = CommitReply::Kind::unknown;
  if (result.delivery == redis::Delivery::unknown) return reply;
  reply.kind = CommitReply::Kind::answered;
  reply.resent = result.resent;
  auto next = result.replies.begin();
  for (std::size_t i = 0; i < batch.commands.size(); ++i) {
    if (asking) ++next;
    reply.commands.push_back(read_renewal(*next++, batch.commands[i].locks));
    reply.commands.back().era = eras[i];
  }
  if (batch.ask_replicas) {
    reply.replicas = wire::decode_replicas(*next);
    if (!reply.replicas) reply.refused = refusal_of(*next);
    ++next;
  }
  reply.acks = wire::decode_acks(*next);
  if (!reply.acks) reply.refused = refusal_of(*next);
  return reply;
}

}  // namespace

/// What is known of one server.
struct Confirmations::AckServer {
  explicit AckServer(redis::Shard& its_shard) : shard(its_shard) {}
  redis::Shard& shard;
  ReplicaCount replicas;
};

struct Confirmations::Level {
  Level(AckServer& its_server, Acks its_acks, bool asks, Confirmations& whose)
      : server(its_server),
        acks(its_acks),
        asking(asks),
        // A connection of which nothing is heard for two intervals counts as dead.
        commit(its_acks, whose.runtime_.config().renewal_batch,
               redis::Health::interval(whose.runtime_.config().lease) * 3 / 2),
        alarm(whose.runtime_.loop().schedule(), [this, &whose] { whose.on_alarm(*this); }) {}
  AckServer& server;
  const Acks acks;
  const bool asking;  // of slots that are on their way there: ASKING goes before each command
  GroupCommit commit;
  timing::Alarm alarm;
};

Confirmations::Confirmations(Runtime& runtime)
    : runtime_(runtime), slots_(base::cluster_of(runtime.config()) ? std::make_unique<EraOfSlots>() : nullptr) {}
Confirmations::~Confirmations() = default;

Confirm Confirmations::confirm_of(std::vector<wire::Renewal> renewals, const Plan& plan, std::uint16_t slot,
                                  milliseconds lease, std::optional<Duration> limit) const {
  const Duration time = limit.value_or(renewal_timeout(lease, runtime_.config().timing.command_timeout));
  Confirm confirm{.renewals = std::move(renewals), .plan = &plan, .lease = lease, .slot = slot};
  confirm.asked_at = Clock::now();
  const Duration leaves = std::max({time - kLate, time / 2, Duration(milliseconds(1))});
  const Duration for_acks = std::min<Duration>(leaves, runtime_.config().timing.acks_timeout);
  confirm.acks_until = confirm.asked_at + for_acks;
  confirm.until = confirm.asked_at + std::max(time, for_acks + kForTheAnswer);
  return confirm;
}

Confirmations::AckServer& Confirmations::server_of(redis::Shard& shard) {
  const auto here = std::ranges::find_if(servers_, [&](const auto& server) { return &server->shard == &shard; });
  if (here != servers_.end()) return **here;
  return *servers_.emplace_back(std::make_unique<AckServer>(shard));
}

Confirmations::Level& Confirmations::level_of(redis::Shard& shard, Acks acks, bool asking) {
  const auto fits = [&](const auto& level) {
    return &level->server.shard == &shard && level->acks == acks && level->asking == asking;
  };
  const auto here = std::ranges::find_if(levels_, fits);
  if (here != levels_.end()) return **here;
  return *levels_.emplace_back(std::make_unique<Level>(server_of(shard), acks, asking, *this));
}

void Confirmations::ask(redis::Shard& shard, Acks acks, Confirm confirm) {
  add(level_of(shard, acks), std::move(confirm));
}

void Confirmations::add(Level& level, Confirm confirm) {
  level.commit.add(std::move(confirm));
  level.alarm.set_by(level.commit.due());
  go_on(level);
}

/// Not executed: it goes where the router says. Nodes that do not agree may send us around in a circle.
void Confirmations::ask_elsewhere(Level& level, Confirm confirm) {
  const redis::Router::Way way = runtime_.router().way_after(confirm.found.cause, confirm.slot, level.asking);
  const bool at_once = way.shard != &level.server.shard && !level.asking;
  confirm.alone = confirm.decided = false;
  confirm.found = {};
  confirm.not_before = at_once ? TimePoint{} : Clock::now() + kAskAgain;
  add(level_of(*way.shard, level.acks, way.asking), std::move(confirm));
}

void Confirmations::end_era(const redis::Shard& shard) {
  if (!slots_) {
    if (era_.fetch_add(1) + 1 == 0) era_.store(1);
    return;
  }
  for (std::size_t slot = 0; slot < slots_->size(); ++slot) {
    const bool there = &runtime_.router().shard_of_slot(static_cast<std::uint16_t>(slot)) == &shard;
    if (there) (*slots_)[slot].fetch_add(1, std::memory_order_relaxed);
  }
}

void Confirmations::on_moved(const redis::cluster::SlotSet& slots) {
  if (!slots_) return;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot]) (*slots_)[slot].fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<Level*> levels;  // there may be more of them by the end
  for (const auto& level : levels_) levels.push_back(level.get());
  for (Level* const level : levels) {
    const auto moved = [&](std::uint16_t slot) {
      return slots[slot] && &runtime_.router().shard_of_slot(slot) != &level->server.shard;
    };
    for (Confirm& confirm : level->commit.take_moved(moved)) ask_elsewhere(*level, std::move(confirm));
  }
}

void Confirmations::on_connected(const redis::Shard& shard) {
  for (const auto& server : servers_) {
    if (&server->shard == &shard) server->replicas.ask_again();
  }
}

void Confirmations::go_on(Level& level) noexcept {
  try {
    const std::optional<int> known = level.server.shard.configured_replicas();
    if (!slots_) level.server.replicas.set_configured(known);
    if (slots_ && known) level.server.replicas.on_seen(*known);
    if (const auto batch = level.commit.next(Clock::now(), level.server.replicas)) send(level, *batch);
  } catch (...) {
    // Out of memory: who waits on is seen to at its time.
    tell(level.commit.take_under_way());
  }
}

void Confirmations::send(Level& level, const GroupCommit::Batch& batch) {
  redis::Request request{.commands = {}, .timeout = batch.timeout, .operation = redis::Operation::confirm};
  request.commands.reserve(batch.commands.size() * (level.asking ? 2 : 1) + 2);
  for (const auto& command : batch.commands) {
    std::vector<wire::Renewal> renewals;
    renewals.reserve(command.locks);
    for (const Confirm* part : command.parts) {
      renewals.insert(renewals.end(), part->renewals.begin(), part->renewals.end());
    }
    if (level.asking) request.commands.push_back({{"ASKING"}});
    request.commands.push_back(command.plan->transitions.renew(renewals, command.lease));
  }
  if (batch.ask_replicas) request.commands.push_back(wire::replication_info());
  const bool aof = level.acks.level() == Acks::Level::aof;
  request.commands.push_back(aof ? wire::wait_aof(batch.wait) : wire::wait(batch.acks, batch.wait));
  runtime_.reporter().add(&Counters::acks_waits);
  std::vector<std::uint32_t> eras;
  eras.reserve(batch.commands.size());
  for (const auto& command : batch.commands) eras.push_back(era(command.slot));
  level.server.shard.side_lane(redis::Side::acks)
      .send(std::move(request), [this, keep = runtime_.keep_alive(), &level, batch, eras = std::move(eras)](
                                    const redis::Result& result) { on_result(level, batch, result, eras); });
}

void Confirmations::on_result(Level& level, const GroupCommit::Batch& batch, const redis::Result& result,
                              const std::vector<std::uint32_t>& eras) noexcept {
  Confirms decided;
  try {
    decided = level.commit.on_reply(Clock::now(), reply_of(batch, result, eras, level.asking), level.server.replicas);
  } catch (...) {
    decided = level.commit.take_under_way();
  }
  tell_or_go_elsewhere(level, std::move(decided));
  if (runtime_.over()) return;
  go_on(level);
  level.alarm.set_by(level.commit.due());
}

void Confirmations::tell_or_go_elsewhere(Level& level, Confirms decided) noexcept {
  for (auto next = decided.begin(); next != decided.end();) {
    const auto here = next++;
    if (!here->found.elsewhere || here->taken || runtime_.over()) continue;
    try {
      ask_elsewhere(level, std::move(*here));
    } catch (...) {
      // Out of memory: whoever asks hears that by the end of what it has given us to call.
    }
    decided.erase(here);
  }
  tell(decided);
}

void Confirmations::tell(const Confirms& decided) noexcept {
  for (const Confirm& confirm : decided) {
    if (confirm.taken) continue;
    if (!confirm.found.acked) runtime_.reporter().add(&Counters::acks_missed);
    try {
      confirm.done(confirm.found);
    } catch (...) {
      // Out of memory for whoever asked, who hears so by other ways.
    }
  }
}

void Confirmations::on_alarm(Level& level) noexcept {
  Confirms late;
  try {
    late = level.commit.on_time(Clock::now());
  } catch (...) {
    late = level.commit.take_all();
  }
  tell(late);
  go_on(level);
  level.alarm.set_by(level.commit.due());
}

void Confirmations::stop() {
  for (const auto& level : levels_) {
    level->alarm.cancel();
    tell(level->commit.take_all());
  }
}

void Confirmations::drop_all() noexcept {
  for (const auto& level : levels_) level->commit.take_all();
}

}  // namespace holdfast::engine
