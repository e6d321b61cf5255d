// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <holdfast/detail/handle_access.hpp>

#include "c/handles.hpp"

using holdfast::Errc;
using holdfast::Error;
using holdfast::Failure;
using holdfast::NotGranted;
using holdfast::c::failed;
using holdfast::c::given;
using holdfast::c::guarded;
using holdfast::c::not_granted;
using holdfast::c::start;
using holdfast::detail::Counting;
using holdfast::detail::HandleAccess;

namespace {

using std::chrono::milliseconds;

milliseconds limit_of(std::int64_t wait_ms) {
  if (wait_ms < 0) throw Error(Errc::invalid_argument, {}, {}, "wait_ms is below 0: HF_NO_LIMIT waits without a limit");
  return milliseconds(wait_ms);
}

std::stop_token token_of(const hf_stop* stop) { return stop != nullptr ? stop->source.get_token() : std::stop_token(); }

/// Why a wait with this limit was not granted.
NotGranted refusal_of(std::int64_t wait_ms) { return wait_ms == 0 ? NotGranted::busy : NotGranted::timed_out; }

/// Of a wait that ended without what it waited for.
int in_vain(std::int64_t wait_ms, const hf_stop* stop, const std::string& name) {
  const bool stopped = stop != nullptr && stop->source.stop_requested();
  return failed(not_granted(stopped ? NotGranted::stopped : refusal_of(wait_ms), name));
}

/// For what nobody waits for.
class Nobody final : public holdfast::detail::Receiver<Failure, bool> {
 public:
  void receive(Failure, bool) override { const std::unique_ptr<Nobody> self(this); }
  void drop() noexcept override { const std::unique_ptr<Nobody> self(this); }
};

/// Gives permits back in the background.
void give_back(const holdfast::detail::PartsPtr& parts, std::int64_t permits) {
  holdfast::detail::make_counting(parts, Counting::release, permits,
                                  holdfast::detail::ReceiverPtr<Failure, bool>(new Nobody()))
      ->start();
}

void wait_in(hf_queue* queue, std::uint64_t tag, const holdfast::detail::PartsPtr& parts, std::int64_t permits,
             std::int64_t wait_ms, holdfast::c::Origin origin) {
  const milliseconds limit = limit_of(wait_ms);
  origin.otherwise = refusal_of(wait_ms);
  start<Failure, bool>(queue, tag, std::move(origin), [&](auto receiver) {
    return holdfast::detail::make_pass_in_time(parts, permits, limit, {}, std::move(receiver));
  });
}

template <class Result>
void count_in(hf_queue* queue, std::uint64_t tag, const holdfast::detail::PartsPtr& parts, Counting what,
              std::int64_t number) {
  start<Failure, Result>(queue, tag, {}, [&](auto receiver) {
    return holdfast::detail::make_counting(parts, what, number, std::move(receiver));
  });
}

template <class Number>
void put(Number* out, std::int64_t number) {
  if (out != nullptr) *out = static_cast<Number>(number);
}

const holdfast::Semaphore& of(const hf_semaphore* semaphore) { return given(semaphore, "semaphore").semaphore; }

const holdfast::Latch& of(const hf_latch* latch) { return given(latch, "latch").latch; }

}  // namespace

int hf_semaphore_open(const hf_client* client, const char* name, hf_semaphore** semaphore) {
  return guarded([&] {
    auto& out = given(semaphore, "semaphore");
    out = new hf_semaphore{given(client, "client").client.semaphore(&given(name, "name"))};
  });
}

void hf_semaphore_free(hf_semaphore* semaphore) { delete semaphore; }

int hf_semaphore_acquire(const hf_semaphore* semaphore, int64_t permits, int64_t wait_ms, hf_stop* stop) {
  return guarded([&]() -> int {
    const auto& from = of(semaphore);
    if (from.try_acquire_for(limit_of(wait_ms), permits, token_of(stop))) return HF_OK;
    return in_vain(wait_ms, stop, from.name());
  });
}

int hf_semaphore_acquire_async(const hf_semaphore* semaphore, int64_t permits, int64_t wait_ms, hf_queue* queue,
                               uint64_t tag) {
  return guarded([&] {
    const auto parts = HandleAccess::parts(of(semaphore));
    wait_in(queue, tag, parts, permits, wait_ms,
            {.name = of(semaphore).name(), .undo = [parts, permits] { give_back(parts, permits); }});
  });
}

int hf_semaphore_release(const hf_semaphore* semaphore, int64_t permits, int* done) {
  return guarded([&] { put(done, of(semaphore).release(permits) ? 1 : 0); });
}

int hf_semaphore_release_async(const hf_semaphore* semaphore, int64_t permits, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<bool>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::release, permits); });
}

int hf_semaphore_available(const hf_semaphore* semaphore, int64_t* permits) {
  return guarded([&] { given(permits, "permits") = of(semaphore).available(); });
}

int hf_semaphore_available_async(const hf_semaphore* semaphore, hf_queue* queue, uint64_t tag) {
  return guarded(
      [&] { count_in<std::int64_t>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::available, 0); });
}

int hf_semaphore_init(const hf_semaphore* semaphore, int64_t permits, int64_t lives_ms, int* set) {
  return guarded([&] {
    const auto& from = of(semaphore);
    put(set, (lives_ms == HF_UNSET ? from.init(permits) : from.init(permits, milliseconds(lives_ms))) ? 1 : 0);
  });
}

int hf_semaphore_init_async(const hf_semaphore* semaphore, int64_t permits, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<bool>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::init, permits); });
}

int hf_semaphore_add(const hf_semaphore* semaphore, int64_t permits, int64_t* now) {
  return guarded([&] { put(now, of(semaphore).add(permits)); });
}

int hf_semaphore_add_async(const hf_semaphore* semaphore, int64_t permits, hf_queue* queue, uint64_t tag) {
  return guarded(
      [&] { count_in<std::int64_t>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::add, permits); });
}

int hf_semaphore_drain(const hf_semaphore* semaphore, int64_t* taken) {
  return guarded([&] { put(taken, of(semaphore).drain()); });
}

int hf_semaphore_drain_async(const hf_semaphore* semaphore, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<std::int64_t>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::drain, 0); });
}

int hf_semaphore_remove(const hf_semaphore* semaphore, int* removed) {
  return guarded([&] { put(removed, of(semaphore).remove() ? 1 : 0); });
}

int hf_semaphore_remove_async(const hf_semaphore* semaphore, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<bool>(queue, tag, HandleAccess::parts(of(semaphore)), Counting::remove, 0); });
}

int hf_latch_open(const hf_client* client, const char* name, hf_latch** latch) {
  return guarded([&] {
    auto& out = given(latch, "latch");
    out = new hf_latch{given(client, "client").client.latch(&given(name, "name"))};
  });
}

void hf_latch_free(hf_latch* latch) { delete latch; }

int hf_latch_wait(const hf_latch* latch, int64_t wait_ms, hf_stop* stop) {
  return guarded([&]() -> int {
    if (of(latch).wait_for(limit_of(wait_ms), token_of(stop))) return HF_OK;
    return in_vain(wait_ms, stop, of(latch).name());
  });
}

int hf_latch_wait_async(const hf_latch* latch, int64_t wait_ms, hf_queue* queue, uint64_t tag) {
  return guarded([&] { wait_in(queue, tag, HandleAccess::parts(of(latch)), 1, wait_ms, {.name = of(latch).name()}); });
}

int hf_latch_init(const hf_latch* latch, int64_t steps, int* set) {
  return guarded([&] { put(set, of(latch).init(steps) ? 1 : 0); });
}

int hf_latch_init_async(const hf_latch* latch, int64_t steps, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<bool>(queue, tag, HandleAccess::parts(of(latch)), Counting::init_latch, steps); });
}

int hf_latch_count_down(const hf_latch* latch, int64_t steps, int64_t* now) {
  return guarded([&] { put(now, of(latch).count_down(steps)); });
}

int hf_latch_count_down_async(const hf_latch* latch, int64_t steps, hf_queue* queue, uint64_t tag) {
  return guarded(
      [&] { count_in<std::int64_t>(queue, tag, HandleAccess::parts(of(latch)), Counting::count_down, steps); });
}

int hf_latch_count(const hf_latch* latch, int64_t* count) {
  return guarded([&] { given(count, "count") = of(latch).count(); });
}

int hf_latch_count_async(const hf_latch* latch, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<std::int64_t>(queue, tag, HandleAccess::parts(of(latch)), Counting::count, 0); });
}

int hf_latch_remove(const hf_latch* latch, int* removed) {
  return guarded([&] { put(removed, of(latch).remove() ? 1 : 0); });
}

int hf_latch_remove_async(const hf_latch* latch, hf_queue* queue, uint64_t tag) {
  return guarded([&] { count_in<bool>(queue, tag, HandleAccess::parts(of(latch)), Counting::remove_latch, 0); });
}
