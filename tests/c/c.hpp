// SPDX-License-Identifier: Apache-2.0
// The interface for C, as its programs see it: only <holdfast.h> and the shared library.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <holdfast.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::c {

/// Frees a handle at its end.
template <class Handle, void (*kFree)(Handle*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle* handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { kFree(handle_); }
  Handle* get() const { return handle_; }
  operator Handle*() const { return handle_; }
  Handle** out() { return &handle_; }
  void free() { kFree(std::exchange(handle_, nullptr)); }

 private:
  Handle* handle_ = nullptr;
};

using Client = Owned<hf_client, hf_client_free>;
using Lock = Owned<hf_lock, hf_lock_free>;
using Hold = Owned<hf_hold, hf_hold_free>;
using Semaphore = Owned<hf_semaphore, hf_semaphore_free>;
using Latch = Owned<hf_latch, hf_latch_free>;
using Leader = Owned<hf_leader, hf_leader_free>;
using Stop = Owned<hf_stop, hf_stop_free>;
using Queue = Owned<hf_queue, hf_queue_free>;

/// Long enough for a busy machine.
constexpr std::int64_t kPatience = 30'000;

inline hf_options options() { return hf_options HF_OPTIONS; }
inline hf_options waiting(std::int64_t ms) {
  hf_options out = HF_OPTIONS;
  out.wait_ms = ms;
  return out;
}

/// HF_OK, or the failure's text.
inline testing::AssertionResult ok(int code) {
  if (code == HF_OK) return testing::AssertionSuccess();
  return testing::AssertionFailure() << hf_code_name(code) << ": " << hf_last_error()->text;
}

/// What a queue has, with texts that stay.
struct Completed {
  std::uint64_t tag = 0;
  int code = 0;
  std::string text{}, json{};
  std::int64_t value = 0;
  Hold hold{};
};

inline Completed next(hf_queue* queue, std::int64_t timeout = kPatience) {
  hf_completion got;
  const int code = hf_queue_next(queue, timeout, &got);
  if (code != HF_OK) return {.code = code};
  return {got.tag, got.error.code, got.error.text, got.text, got.value, Hold(got.hold)};
}

class Calls : public testing::Test {
 protected:
  Calls() {
    EXPECT_TRUE(ok(hf_client_open(server.url().c_str(), client.out())));
    EXPECT_TRUE(ok(hf_queue_new(queue.out())));
  }

  Client another_client() const {
    Client other;
    EXPECT_TRUE(ok(hf_client_open(server.url().c_str(), other.out())));
    return other;
  }
  static Lock lock_of(hf_client* by, int kind, const std::string& name, const hf_options* defaults = nullptr) {
    Lock lock;
    EXPECT_TRUE(ok(hf_lock_open(by, kind, name.c_str(), defaults, lock.out())));
    return lock;
  }
  Lock lock(int kind = HF_LOCK, const std::string& name = "orders") const { return lock_of(client, kind, name); }
  static Hold held(hf_lock* lock) {
    Hold hold;
    EXPECT_TRUE(ok(hf_lock_acquire(lock, nullptr, hold.out())));
    return hold;
  }
  bool soon(const std::function<bool()>& holds) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  RedisServer server;
  Raw raw{server};
  Client client;
  Queue queue;
};

}  // namespace holdfast::test::c
