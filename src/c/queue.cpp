// SPDX-License-Identifier: Apache-2.0
#include "c/queue.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <type_traits>

#include "c/handles.hpp"
#include "json/json.hpp"

namespace holdfast::c {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Queue::Queue() = default;
Queue::~Queue() = default;

Queue::Place Queue::begin(std::uint64_t tag, Origin origin) {
  if (fork_.in_child()) throw Error(Errc::forked, {}, {}, "the queue is the parent process's");
  const base::Guard guard(mutex_);
  if (closed_) throw Error(Errc::closed, {}, {}, "the queue has been freed");
  if (by_tag_.contains(tag)) throw Error(Errc::invalid_argument, {}, {}, "a call with this tag is under way");
  Entries one(1);
  one.front().tag = tag;
  one.front().serial = ++serial_;
  one.front().origin = std::move(origin);
  by_tag_.emplace(tag, one.begin());
  under_way_.splice(under_way_.end(), one);
  return {std::prev(under_way_.end()), serial_};
}

bool Queue::keep(std::uint64_t tag, std::uint64_t serial, const detail::OperationPtr& operation) {
  const base::Guard guard(mutex_);
  const auto found = by_tag_.find(tag);
  if (found == by_tag_.end() || found->second->serial != serial) return false;
  found->second->operation = operation;
  return true;
}

void Queue::complete(Entries::iterator place, const Failure& failure, Result result) noexcept {
  detail::OperationPtr over;  // destroyed without the mutex
  Entries too_late;
  {
    const base::Guard guard(mutex_);
    over.swap(place->operation);
    by_tag_.erase(place->tag);
    place->failure = failure;
    place->result = std::move(result);
    if (completed_.empty()) bell_.ring();
    Entries& to = closed_ ? too_late : completed_;
    to.splice(to.end(), under_way_, place);
  }
  undo(too_late);
}

void Queue::undo(Entries& entries) noexcept {
  for (Entry& each : entries) {
    if (each.failure || !each.origin.undo || std::get<std::int64_t>(each.result) == 0) continue;
    try {
      each.origin.undo();
    } catch (...) {
      // Out of memory: then it is as if this process had died with it.
    }
  }
}

void Queue::drop(Entries::iterator place) noexcept {
  Entries over;
  const base::Guard guard(mutex_);
  by_tag_.erase(place->tag);
  over.splice(over.end(), under_way_, place);
}

void Queue::cancel(std::uint64_t tag) noexcept {
  if (fork_.in_child()) return;
  detail::OperationPtr operation;
  {
    const base::Guard guard(mutex_);
    const auto found = by_tag_.find(tag);
    if (found != by_tag_.end()) operation = found->second->operation;
  }
  if (operation) operation->cancel();
}

void Queue::close() noexcept {
  if (fork_.in_child()) return;
  Entries unfetched;
  Entries fetched;
  std::vector<detail::OperationPtr> running;
  {
    const base::Guard guard(mutex_);
    closed_ = true;
    unfetched.splice(unfetched.end(), completed_);
    fetched.splice(fetched.end(), fetched_);
    for (const Entry& entry : under_way_) running.push_back(entry.operation);
  }
  for (const detail::OperationPtr& each : running) {
    if (each) each->abandon();
  }
  undo(unfetched);
}

int Queue::next(std::int64_t timeout_ms, hf_completion& completion) {
  if (fork_.in_child()) throw Error(Errc::forked, {}, {}, "the queue is the parent process's");
  const bool limited = timeout_ms >= 0;
  const Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(std::clamp<std::int64_t>(timeout_ms, 0, INT32_MAX));
  while (true) {
    Entries over;
    {
      const base::Guard guard(mutex_);
      over.splice(over.end(), fetched_);
      if (!completed_.empty()) {
        show(completed_.front(), completion);
        fetched_.splice(fetched_.end(), completed_, completed_.begin());
        if (completed_.empty()) bell_.hush();
        return HF_OK;
      }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (limited && left <= 0) return HF_NOTHING;
    if (wait(limited ? left : -1) == HF_INTERRUPTED) return HF_INTERRUPTED;
  }
}

int Queue::wait(std::int64_t timeout_ms) const noexcept {
  pollfd event{fd(), POLLIN, 0};
  const int ready = poll(&event, 1, static_cast<int>(timeout_ms));
  return ready < 0 && errno == EINTR ? HF_INTERRUPTED : HF_OK;
}

/// Throws std::bad_alloc, and then the entry is as it was.
void Queue::show(Entry& entry, hf_completion& completion) {
  std::int64_t value = 0;
  hf_hold* hold = nullptr;
  if (entry.failure) {
    // Then there is no result.
  } else if (const auto* reason = std::get_if<NotGranted>(&entry.result)) {
    entry.failure = not_granted(*reason, entry.origin.name);
  } else if (const auto* number = std::get_if<std::int64_t>(&entry.result);
             number != nullptr && entry.origin.otherwise) {
    if (*number == 0) entry.failure = not_granted(*entry.origin.otherwise, entry.origin.name);
  } else if (number != nullptr) {
    value = *number;
  } else if (const auto* info = std::get_if<LockInfo>(&entry.result)) {
    entry.json = json::line(json::to_json(*info));
  } else if (const auto* infos = std::get_if<std::vector<LockInfo>>(&entry.result)) {
    entry.json = json::line(json::to_json(*infos));
  } else if (auto* granted = std::get_if<Hold>(&entry.result)) {
    hold = new hf_hold(std::move(*granted), entry.origin.writer);
  }
  completion = {entry.tag, error_of(entry.failure), value, hold, entry.json.c_str()};
}

}  // namespace holdfast::c

using holdfast::c::guarded;
using holdfast::c::refused;

int hf_queue_new(hf_queue** queue) {
  if (queue == nullptr) return refused("queue is NULL");
  return guarded([&] { *queue = new hf_queue{std::make_shared<holdfast::c::Queue>()}; });
}

void hf_queue_free(hf_queue* queue) {
  if (queue == nullptr) return;
  queue->queue->close();
  delete queue;
}

int hf_queue_fd(const hf_queue* queue) { return queue != nullptr ? queue->queue->fd() : -1; }

int hf_queue_next(hf_queue* queue, int64_t timeout_ms, hf_completion* completion) {
  if (queue == nullptr || completion == nullptr) return refused("queue or completion is NULL");
  return guarded([&] { return queue->queue->next(timeout_ms, *completion); });
}

void hf_queue_cancel(hf_queue* queue, uint64_t tag) {
  if (queue != nullptr) queue->queue->cancel(tag);
}
