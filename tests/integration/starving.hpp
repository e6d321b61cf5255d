// SPDX-License-Identifier: Apache-2.0
// What the tests of starvation share: allocations that fail one after the other, what came of it, and a record of that
// for the page of evidence.
#pragma once

#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>

#include "faults.hpp"

namespace holdfast::test {

/// Of the whole process; allocation_failure_test.cpp has what stands in for operator new.
namespace allocations {
/// How many there are before the one that fails. Below zero: none fails, or it has failed.
extern std::atomic<long> before_failure;
/// Those of this thread never fail, and do not count.
extern thread_local bool exempt;
/// Called in the place of the failure, if there is one: the allocation then succeeds.
extern std::function<void()> instead;
}  // namespace allocations

/// What the test does itself does not count.
struct Exempt {
  Exempt() : before_(std::exchange(allocations::exempt, true)) {}
  ~Exempt() { allocations::exempt = before_; }
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;

 private:
  const bool before_;
};

/// How often what came of a path. Thread-safe.
class Outcomes {
 public:
  void add(const std::string& what) {
    const std::scoped_lock guard(mutex_);
    ++counts_[what];
  }
  /// `done 3, exhausted 12`
  std::string in_words() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;  // guarded by mutex_
};

/// Somebody else's lock is given up by a thread of its own, once somebody listens, or after 100 ms.
inline std::future<void> free_once_awaited(const RedisServer& server, const std::string& name) {
  return in_thread([&server, name] {
    const Exempt here;
    Raw other(server);
    eventually([&] { return other.command("PUBSUB", "NUMSUB", channel_of(name)).elements[1].integer > 0; }, 100ms);
    other.command("DEL", name);
    other.command("PUBLISH", channel_of(name), "0");
  });
}

/// How many descriptors this process has open, and what they are.
std::size_t open_descriptors();
std::string descriptors_in_words();
/// Suite and name of the test that runs.
std::string this_path();

/// Appends a record of this path to the file of evidence: so many failures were injected.
void record_starvation(std::string_view path, int failed, const Outcomes& outcomes, steady_clock::duration took);

class Starving {
 protected:
  static constexpr int kMostOnAPath = 20'000;

  Starving() { allocations::exempt = true; }
  ~Starving() {
    allocations::before_failure = -1;
    allocations::instead = nullptr;
    allocations::exempt = false;
  }

  /// Without being exempt. What it throws is its own affair, as long as it is an Error or bad_alloc.
  template <class Call>
  void try_to(Call&& call) {
    allocations::exempt = false;
    std::string what = "done";
    try {
      call();
    } catch (const std::bad_alloc&) {
      const Exempt here;
      what = "bad_alloc";
    } catch (const Error& error) {
      const Exempt here;
      what = to_string(static_cast<Errc>(error.code().value()));
    } catch (const std::exception& error) {
      const Exempt here;
      what = typeid(error).name();
      ADD_FAILURE() << "neither an Error nor bad_alloc, but " << what << ": " << error.what();
    }
    allocations::exempt = true;
    outcomes_.add(what);
  }
  /// Nothing fails in it.
  template <class Call>
  static auto spared(Call&& call) {
    struct Later {
      long k = allocations::before_failure.exchange(-1);
      ~Later() { allocations::before_failure = k; }
    } const later;
    return call();
  }
  static bool has_failed() { return allocations::before_failure.load() < 0; }
  void note(const std::string& what) { outcomes_.add(what); }

  /// Runs it as often as it has allocations, and once more. `path` begins and ends exempt; behind each, `settled` looks
  /// whether all is well again. Of a path that takes long only each `of_slow`-th allocation fails, unless
  /// HOLDFAST_STARVATION is `all`.
  template <class Path, class Settled>
  void fail_each(Path&& path, Settled&& settled, int of_slow = 1) {
    const char* const wanted = std::getenv("HOLDFAST_STARVATION");
    const int stride = wanted != nullptr && std::string_view(wanted) == "all" ? 1 : of_slow;
    const auto began = steady_clock::now();
    int failures = -1;
    int k = 0;
    for (bool failed = true; failed; k += stride, ++failures) {
      ASSERT_LT(k, kMostOnAPath);
      SCOPED_TRACE("the allocation that fails: " + std::to_string(k));
      const auto start = steady_clock::now();
      allocations::before_failure = k;
      path();
      failed = allocations::before_failure.exchange(-1) < 0;
      settled();
      ASSERT_FALSE(testing::Test::HasFatalFailure());
      ASSERT_LT(steady_clock::now() - start, kPatience) << "nothing hangs; so far: " << outcomes_.in_words();
    }
    EXPECT_GT(k, 3);
    record_starvation(this_path(), failures, outcomes_, steady_clock::now() - began);
  }

 private:
  Outcomes outcomes_;
};

}  // namespace holdfast::test
