// SPDX-License-Identifier: Apache-2.0
#include "lock/targets/targets.hpp"

#include <algorithm>

#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t kFirstBuckets = 64;
constexpr std::size_t kFirstSweep = 64;

}  // namespace

Targets::Targets(Runtime& runtime, Watchdog& watchdog)
    : runtime_(runtime),
      watchdog_(watchdog),
      buckets_(std::make_unique<Table::bucket_type[]>(kFirstBuckets)),
      bucket_count_(kFirstBuckets),
      table_(Table::bucket_traits(buckets_.get(), bucket_count_)) {}

Targets::~Targets() = default;

bool Targets::Same::operator()(const Key& key, const KeyTarget& target) const {
  if (key.plan != &target.plan() || key.title != target.name()) return false;
  const std::vector<std::string>* const several = target.several();
  return key.several == nullptr ? several == nullptr : several != nullptr && *key.several == *several;
}

std::shared_ptr<KeyTarget> Targets::target(const std::vector<std::string>& names, const Plan& plan) {
  std::string title;
  for (const std::string& name : names) title += (title.empty() ? "" : ", ") + name;
  const Key key{&plan, title, names.size() > 1 ? &names : nullptr};
  std::shared_ptr<KeyTarget> target;  // destroyed without the mutex, also when there is no memory to go on
  const base::Guard guard(mutex_);
  Table::insert_commit_data place;
  const auto [found, is_new] = table_.insert_check(key, Hash(), Same(), place);
  if (!is_new) {
    target = std::static_pointer_cast<KeyTarget>(found->weak_from_this().lock());
    if (target) return target;
    found->listed_ = false;  // its end has begun
    table_.erase(found);
  }
  const auto made =
      std::make_shared<KeyTarget>(this, std::move(title), key.several, plan, slot_of(names.front(), plan));
  target = made;
  if (plan.each != nullptr) add_union(target);
  table_.insert(*made);
  made->listed_ = true;
  if (table_.size() > bucket_count_) {
    auto more = std::make_unique<Table::bucket_type[]>(bucket_count_ * 2);
    table_.rehash(Table::bucket_traits(more.get(), bucket_count_ * 2));
    buckets_ = std::move(more);
    bucket_count_ *= 2;
  }
  return target;
}

void Targets::add_union(const std::shared_ptr<Target>& target) {
  std::erase_if(unions_, [](const auto& each) { return each.expired(); });
  unions_.push_back(target);
  has_unions_.store(true);
}

std::shared_ptr<Target> Targets::only_one_of(std::shared_ptr<Target> made,
                                             const std::function<bool(const Target&)>& same) {
  adopt(made, Bond::serves);
  std::vector<std::shared_ptr<Target>> alive;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  alive.reserve(unions_.size());
  for (const std::weak_ptr<Target>& each : unions_) {
    if (std::shared_ptr<Target> there = each.lock()) alive.push_back(std::move(there));
  }
  const auto found = std::ranges::find_if(alive, [&](const auto& each) { return same(*each); });
  if (found != alive.end()) return *found;
  add_union(made);
  return made;
}

std::uint16_t Targets::slot_of(const std::string& name, const Plan& plan) const {
  redis::Router& router = runtime_.router();
  if (router.only_shard() != nullptr) return 0;
  return router.slot_of(plan.transitions.names(runtime_.config().name_prefix + name).key);
}

/// Sweeps as many as it adds, on average, however many there are.
void Targets::adopt(const std::shared_ptr<Target>& target, Bond bond) {
  const base::Guard guard(mutex_);
  if (adopted_.size() >= sweep_at_) {
    std::erase_if(adopted_, [](const Adopted& each) { return each.target.expired(); });
    sweep_at_ = std::max(kFirstSweep, 2 * adopted_.size());
  }
  adopted_.push_back({target, bond});
}

/// Whoever has been locked here leaves with the result: if this becomes the last reference, a target strikes itself
/// off, for which it wants the mutex.
std::vector<std::shared_ptr<Target>> Targets::all(Which which) {
  std::vector<std::shared_ptr<Target>> out;
  const base::Guard guard(mutex_);
  out.reserve(table_.size() + adopted_.size());  // nothing throws from here on, with a reference in its hands
  for (KeyTarget& target : table_) {
    if (std::shared_ptr<Target> alive = target.weak_from_this().lock()) out.push_back(std::move(alive));
  }
  for (const Adopted& each : adopted_) {
    if (which == Which::own && each.bond == Bond::wakes) continue;
    if (std::shared_ptr<Target> target = each.target.lock()) out.push_back(std::move(target));
  }
  return out;
}

std::vector<std::shared_ptr<Target>> Targets::in(const redis::cluster::SlotSet& slots) {
  std::vector<std::shared_ptr<Target>> out;
  {
    const base::Guard guard(mutex_);
    out.reserve(table_.size() + adopted_.size());
    for (KeyTarget& target : table_) {
      if (!target.lies_in(runtime_, slots)) continue;
      if (std::shared_ptr<Target> alive = target.weak_from_this().lock()) out.push_back(std::move(alive));
    }
    for (const Adopted& each : adopted_) {
      if (std::shared_ptr<Target> target = each.target.lock()) out.push_back(std::move(target));
    }
  }
  std::erase_if(out, [&](const auto& target) { return !target->lies_in(runtime_, slots); });
  return out;
}

void Targets::keep(std::shared_ptr<KeyTarget> target) noexcept {
  const base::Guard guard(mutex_);
  if (runtime_.over() || std::exchange(target->staying_, true)) return;
  std::shared_ptr<KeyTarget>& place = kept_[next_kept_];
  next_kept_ = (next_kept_ + 1) % kMostKept;
  target.swap(place);  // the one that goes may strike itself off, so after the mutex
  if (target) target->staying_ = false;
}

void Targets::wake_unions(const KeyTarget& part) noexcept {
  if (!has_unions_.load() || part.plan().each != nullptr) return;
  try {
    std::vector<std::shared_ptr<Target>> found;  // destroyed without the mutex
    {
      const base::Guard guard(mutex_);
      found.reserve(unions_.size());
      for (const std::weak_ptr<Target>& each : unions_) {
        if (std::shared_ptr<Target> alive = each.lock()) found.push_back(std::move(alive));
      }
    }
    for (const std::shared_ptr<Target>& each : found) each->on_part_free(part);
  } catch (...) {
    // Out of memory: the message of the release wakes them, or the safety poll.
  }
}

void Targets::let_go() noexcept {
  std::array<std::shared_ptr<KeyTarget>, kMostKept> kept;
  const base::Guard guard(mutex_);
  kept.swap(kept_);
}

void Targets::forget(KeyTarget& target) {
  if (fork_guard_.in_child()) return;
  const base::Guard guard(mutex_);
  if (target.listed_) table_.erase(table_.iterator_to(target));
}

}  // namespace holdfast::engine
