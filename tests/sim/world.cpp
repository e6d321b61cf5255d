#include "sim/world.hpp"

#include <cassert>

namespace holdfast::test {
namespace {

World* the_world = nullptr;

}  // namespace

World::World(std::uint64_t seed) : random_(seed) {
  assert(the_world == nullptr);
  the_world = this;
}

World::~World() {
  ending_ = true;
  events_.clear();
  context_.reset();
  the_world = nullptr;
}

World& World::current() {
  assert(the_world != nullptr);
  return *the_world;
}

base::Duration World::between(base::Duration least, base::Duration most) {
  const auto range = static_cast<std::uint64_t>((most - least).count()) + 1;
  return least + base::Duration(static_cast<std::int64_t>(random_() % range));
}

World::Id World::at(base::TimePoint time, Event event) {
  return events_.emplace(Id(std::max(time, now_), ++last_), std::move(event)).first->first;
}

void World::settle() {
  do {
    context_->restart();
    while (context_->poll() > 0) {
    }
  } while (pump_());
}

void World::run(base::Duration time) {
  const base::TimePoint end = now_ + time;
  settle();
  while (!events_.empty() && events_.begin()->first.first <= end) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
    settle();
  }
  now_ = end;
}

}  // namespace holdfast::test
