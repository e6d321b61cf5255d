// SPDX-License-Identifier: Apache-2.0
#include "lock/queue/target.hpp"

#include <map>
#include <utility>

#include "base/guarded.hpp"
#include "lock/decide/release_fsm.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {

struct ThreadHolds::Table {
  base::Mutex mutex;
  std::map<Who, Entry> entries HOLDFAST_GUARDED_BY(mutex);
};

ThreadHolds::~ThreadHolds() { delete table_.load(); }

ThreadHolds::Table& ThreadHolds::table() {
  if (Table* const table = table_.load()) return *table;
  auto mine = std::make_unique<Table>();
  Table* first = nullptr;
  return table_.compare_exchange_strong(first, mine.get()) ? *mine.release() : *first;
}

ThreadHolds::Entry ThreadHolds::find(Who who) const {
  Table* const table = table_.load();
  if (table == nullptr) return {};
  const base::Guard guard(table->mutex);
  const auto found = table->entries.find(who);
  return found == table->entries.end() ? Entry{} : found->second;
}

void ThreadHolds::own(Who who, std::shared_ptr<Claim> held) {
  Table& own = table();
  Entry entry{std::move(held), 1};  // and what it replaces, which is destroyed without the mutex
  const base::Guard guard(own.mutex);
  std::swap(own.entries[who], entry);
}

void ThreadHolds::reenter(Who who) {
  Table& own = table();
  const base::Guard guard(own.mutex);
  const auto found = own.entries.find(who);
  if (found != own.entries.end()) ++found->second.count;
}

ThreadHolds::Entry ThreadHolds::leave_level(Who who) {
  Table* const table = table_.load();
  if (table == nullptr) return {};
  Entry before;  // destroyed without the mutex
  const base::Guard guard(table->mutex);
  const auto found = table->entries.find(who);
  if (found == table->entries.end()) return {};
  before = found->second;
  if (--found->second.count == 0) table->entries.erase(found);
  return before;
}

void ThreadHolds::forget_all() {
  std::map<Who, Entry> forgotten;  // destroyed without the mutex
  Table* const table = table_.load();
  if (table == nullptr) return;
  const base::Guard guard(table->mutex);
  forgotten.swap(table->entries);
}

namespace {

/// Nobody refers to it any more.
class KeptTenancy final : public Tenancy {
 public:
  template <class... Args>
  explicit KeptTenancy(Args&&... args) : Tenancy(std::forward<Args>(args)...) {}
  ~KeptTenancy() {
    if (runtime()->in_child()) return;  // there nobody looks at the schedule or the target any more
    if (armed) target()->disarm(*this);
    target()->forget(*this);
  }
  KeptTenancy(const KeptTenancy&) = delete;
  KeptTenancy& operator=(const KeptTenancy&) = delete;
};

}  // namespace

Target::Target(std::string name) : name_(std::move(name)) {}
Target::~Target() = default;

std::shared_ptr<Tenancy> Target::make_tenancy(std::shared_ptr<Runtime> client, const wire::Owner& owner, wire::Ask ask,
                                              TimePoint sent_at, const LeaseTerms& terms,
                                              const std::function<void(const LostEvent&)>& on_lost,
                                              std::unique_ptr<const wire::Grant> grant, std::uint32_t acked_era) {
  return std::make_shared<KeptTenancy>(std::move(client), shared_from_this(), owner, ask, sent_at, terms, on_lost,
                                       std::move(grant), acked_era);
}

void Target::undo(const wire::Owner& owner, milliseconds lease) noexcept {
  if (runtime().in_child()) return;
  const TimePoint end = gone_by(base::Clock::now(), lease);
  try {
    release(owner, kNeverOurs, end, [undo = runtime().undos().begin()](const Released&) {});
  } catch (...) {
    // Out of memory: the lease ends it, if there is one.
  }
  withdraw(owner, lease);
}

}  // namespace holdfast::engine
