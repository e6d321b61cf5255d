#include "engine/hold/loss_watch.hpp"

#include <utility>

#include "engine/hold/acquirable.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

LossWatch::LossWatch(Runtime& runtime) : runtime_(runtime) {}

void LossWatch::watch(KeyWatch::Entry entry) {
  if (stopped_ || !runtime_.config().loss_notice) return;
  of(runtime_.router().shard_of(entry.key)).add(std::move(entry));
}

KeyWatch& LossWatch::of(redis::Shard& shard) {
  return by_shard_.try_emplace(&shard, runtime_, shard, [this, &shard](const Doubt& doubt) { on_doubt(shard, doubt); })
      .first->second;
}

void LossWatch::on_connected(redis::Shard& shard) { of(shard).on_connected(); }
void LossWatch::on_disconnected(redis::Shard& shard) { of(shard).on_disconnected(); }
void LossWatch::on_invalidated(redis::Shard& shard, const base::Reply& keys) { of(shard).on_invalidated(keys); }

void LossWatch::on_main(redis::Shard& shard, bool connected) {
  if (const auto found = by_shard_.find(&shard); found != by_shard_.end()) found->second.on_main(connected);
}

/// In a cluster a command renews the few holds of one slot, which is not worth a transaction.
KeyWatch* LossWatch::way_for_renewals(redis::Shard& shard) {
  if (runtime_.router().only_shard() == nullptr) return nullptr;
  const auto found = by_shard_.find(&shard);
  return found != by_shard_.end() && found->second.takes_renewals() ? &found->second : nullptr;
}

void LossWatch::on_moved(const redis::cluster::SlotSet& slots) {
  redis::Router& router = runtime_.router();
  std::vector<KeyWatch::Entry> moved;
  for (auto& [shard, keys] : by_shard_) {
    redis::cluster::SlotSet gone;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      gone[slot] = slots[slot] && &router.shard_of_slot(static_cast<std::uint16_t>(slot)) != shard;
    }
    keys.take(moved, gone);
  }
  for (KeyWatch::Entry& each : moved) watch(std::move(each));
}

void LossWatch::stop() {
  stopped_ = true;
  for (auto& [shard, keys] : by_shard_) keys.stop();
}

void LossWatch::on_doubt(redis::Shard& shard, const Doubt& doubt) {
  if (doubt.hold->on_doubt(base::Clock::now())) return renew(doubt.hold);
  ask(shard, doubt);
}

/// On the loop of the hold's own client.
void LossWatch::renew(const std::shared_ptr<Tenancy>& hold) {
  hold->runtime()->hand_over([weak = std::weak_ptr(hold)] {
    if (const std::shared_ptr<Tenancy> still = weak.lock()) still->target()->keeper().look_now(still);
  });
}

void LossWatch::ask(redis::Shard& shard, const Doubt& doubt) {
  wire::Owner owner = doubt.hold->owner();
  auto request = redis::Request::of(doubt.hold->target()->plan().questions.ask_owner(doubt.key, owner),
                                    runtime_.config().command_timeout);
  runtime_.send(std::move(request),
                [this, keep = runtime_.keep_alive(), &shard, key = doubt.key, weak = std::weak_ptr(doubt.hold),
                 spare = doubt.spare, owner = std::move(owner)](const redis::Result& result) {
                  const std::shared_ptr<Tenancy> hold = weak.lock();
                  if (stopped_ || !hold) return;
                  const Plan& plan = hold->target()->plan();
                  if (KeyWatch::read(result, 0, plan, owner) != KeyWatch::Said::not_ours) return;
                  if (owner.ask != hold->ask() || hold->is_being_shared()) return;
                  if (!of(shard).remove(key, *hold) || (spare && spare->fetch_sub(1) > 0)) return;
                  hold->on_gone(base::Clock::now(), base::Clock::now());
                  hold->target()->keeper().disarm(*hold);
                });
}

}  // namespace holdfast::engine
