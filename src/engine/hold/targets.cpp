#include "engine/hold/targets.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "engine/runtime/runtime.hpp"

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

Targets::Listed::Listed(boost::intrusive_ptr<Targets> targets, std::string name,
                        const std::vector<std::string>* several, const Plan& plan, std::uint16_t slot)
    : KeyTarget(std::move(name), several, plan, slot), targets_(std::move(targets)) {}

Targets::Listed::~Listed() { targets_->forget(*this); }

bool Targets::Listed::is(const Key& key) const {
  if (key.plan != &plan() || key.title != name()) return false;
  return key.several == nullptr ? several() == nullptr : several() != nullptr && *key.several == *several();
}

std::shared_ptr<Target> Targets::Listed::granted(const wire::Grant& grant) {
  if (plan().each == nullptr) return shared_from_this();
  return targets_->target({lock_name(grant.which.value_or(0))}, *plan().each);
}

Targets& Targets::of(const KeyTarget& target) { return *static_cast<const Listed&>(target).targets_; }

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
  const auto made = std::make_shared<Listed>(this, std::move(title), key.several, plan, slot_of(names.front(), plan));
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

std::shared_ptr<Target> Targets::any_of(const std::shared_ptr<Runtime>& runtime, const std::vector<std::string>& names,
                                        const Plan& plan) {
  std::map<std::uint16_t, std::vector<std::string>> slots;
  for (const std::string& name : names) slots[slot_of(name, plan)].push_back(name);
  if (slots.size() == 1) return target(names, plan);
  std::vector<Member> members;
  for (const auto& [slot, its_names] : slots) members.push_back({runtime, target(its_names, plan)});
  return only_one_of(std::make_shared<AnyTarget>(names, std::move(members)));
}

std::shared_ptr<AnyTarget> Targets::only_one_of(std::shared_ptr<AnyTarget> made) {
  adopt(made, Bond::serves);
  std::vector<std::shared_ptr<Target>> alive;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  alive.reserve(unions_.size());
  for (const std::weak_ptr<Target>& each : unions_) {
    if (std::shared_ptr<Target> there = each.lock()) alive.push_back(std::move(there));
  }
  for (const std::shared_ptr<Target>& each : alive) {
    auto same = std::dynamic_pointer_cast<AnyTarget>(each);
    if (same && same->names() == made->names() && &same->plan() == &made->plan()) return same;
  }
  add_union(made);
  return made;
}

std::shared_ptr<QuorumTarget> Targets::group(std::string name, std::vector<Member> members, std::size_t needed,
                                             Members::Servers servers) {
  auto made = std::make_shared<QuorumTarget>(std::move(name), std::move(members), needed, servers);
  std::set<const Targets*> told;
  for (const Member& member : made->members()) {
    Targets& its = of(*member.target);
    if (told.insert(&its).second) its.adopt(made, &its.runtime_ == &made->runtime() ? Bond::serves : Bond::wakes);
  }
  return made;
}

/// 0 with one server.
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
  for (Listed& target : table_) {
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
    for (Listed& target : table_) {
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

void Targets::keep(std::shared_ptr<Listed> target) noexcept {
  const base::Guard guard(mutex_);
  if (over_ || std::exchange(target->staying_, true)) return;
  std::shared_ptr<Listed>& place = kept_[next_kept_];
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
  std::array<std::shared_ptr<Listed>, kMostKept> kept;
  const base::Guard guard(mutex_);
  over_ = true;
  kept.swap(kept_);
}

void Targets::forget(Listed& target) {
  if (fork_guard_.in_child()) return;
  const base::Guard guard(mutex_);
  if (target.listed_) table_.erase(table_.iterator_to(target));
}

}  // namespace holdfast::engine
