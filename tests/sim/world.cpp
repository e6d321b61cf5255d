// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include <algorithm>
#include <cassert>

#include "sim/process.hpp"

namespace holdfast::test {
namespace {

World* the_world = nullptr;

}  // namespace

World::World(std::uint64_t seed) : seed_(seed), chance_(seed) {
  assert(the_world == nullptr);
  the_world = this;
}

World::~World() {
  assert(processes_.empty());
  events_.clear();
  the_world = nullptr;
}

World& World::current() {
  assert(the_world != nullptr);
  return *the_world;
}

base::Duration World::pick(Chance& chance, base::Duration least, base::Duration most) {
  const auto range = static_cast<std::uint64_t>((most - least).count()) + 1;
  return least + base::Duration(static_cast<std::int64_t>(chance() % range));
}

World::Chance World::chance_of(std::uint64_t number) const {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // keeps neighbours apart
  return Chance((seed_ + 1) * kOdd ^ (number * kOdd << 1U));
}

World::Id World::at(base::TimePoint time, Event event) {
  return events_.emplace(Id(std::max(time, now_), ++last_), std::move(event)).first->first;
}

void World::settle() {
  // What one process does reaches another one by an event only.
  for (std::size_t i = 0; i < processes_.size(); ++i) processes_[i]->run_if_awake();
  if (look_) look_();
}

bool World::step(base::TimePoint end) {
  if (events_.empty() || events_.begin()->first.first > end) {
    now_ = end;
    return false;
  }
  auto next = events_.extract(events_.begin());
  now_ = next.key().first;
  next.mapped()();
  settle();
  return true;
}

void World::run(base::Duration time) {
  const base::TimePoint end = now_ + time;
  settle();
  while (step(end)) {
  }
}

bool World::run_until(base::Duration limit, const std::function<bool()>& over) {
  const base::TimePoint end = now_ + limit;
  settle();
  while (!over()) {
    if (!step(end)) return over();
  }
  return true;
}

}  // namespace holdfast::test
