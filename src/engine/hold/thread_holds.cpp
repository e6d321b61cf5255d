#include "engine/hold/thread_holds.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "base/guarded.hpp"

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

}  // namespace holdfast::engine
