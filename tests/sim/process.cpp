// SPDX-License-Identifier: Apache-2.0
#include "sim/process.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace holdfast::test::sim {
namespace {

Process* the_current = nullptr;

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

Process::Inside::Inside(Process& process) : before_(std::exchange(the_current, &process)) {}
Process::Inside::~Inside() { the_current = before_; }

Process* Process::current() { return the_current; }

Process::Process(World& world, int number, int drift_ppm)
    : world_(world),
      number_(number),
      drift_ppm_(drift_ppm),
      origin_(world.now()),
      chance_(world.chance_of(1000 + static_cast<std::uint64_t>(number))),
      system_(world, *this) {
  const Inside inside(*this);
  context_ = std::make_unique<boost::asio::io_context>(1);
  world_.processes_.push_back(this);
}

Process::~Process() {
  const Inside inside(*this);
  std::erase(world_.processes_, this);
  tasks_.clear();
  context_.reset();
}

base::TimePoint Process::clock_at(base::TimePoint time) const {
  return time + (time - origin_) * drift_ppm_ / kMillion;
}

base::Duration Process::world_time(base::Duration own) const {
  if (drift_ppm_ == 0 || own <= base::Duration{}) return std::max(own, base::Duration{});
  const base::TimePoint due = clock() + own;
  base::Duration time = own / (kMillion + drift_ppm_) * kMillion;
  while (clock_at(world_.now() + time) < due) time += due - clock_at(world_.now() + time);  // what was rounded off
  return time;
}

void Process::inside(const std::function<void()>& work) {
  const Inside inside(*this);
  work();
  awake_ = true;
}

void Process::after(base::Duration time, std::function<void()> work) {
  const std::uint64_t number = ++last_task_;
  tasks_.emplace(number, std::move(work));
  world_.after(world_time(time), [this, number] {
    const Inside inside(*this);
    auto task = tasks_.extract(number);
    if (killed_) return;
    boost::asio::post(*context_, std::move(task.mapped()));
    awake_ = true;
  });
}

void Process::pause() {
  if (std::exchange(paused_, true)) return;
  paused_at_ = world_.now();
}

void Process::resume() {
  if (!std::exchange(paused_, false)) return;
  stood_still_ += world_.now() - paused_at_;
  awake_ = true;
}

base::Duration Process::stood_still() const {
  return stood_still_ + (paused_ ? world_.now() - paused_at_ : base::Duration{});
}

void Process::kill() {
  const Inside inside(*this);
  killed_ = true;
  system_.close_all();
}

void Process::run_if_awake() {
  if (!awake_ || paused_ || killed_) return;
  awake_ = false;
  const Inside inside(*this);
  context_->restart();
  while (context_->poll() > 0) {
  }
}

bool Process::out_of_work() {
  const Inside inside(*this);
  context_->restart();
  while (context_->poll() > 0) {
  }
  return context_->stopped();
}

}  // namespace holdfast::test::sim
