// SPDX-License-Identifier: Apache-2.0
// Callers that are threads: for libraries whose calls wait.
#pragma once

#include <memory>
#include <string>

#include "driver.hpp"

namespace bench {

/// One caller's way to what it takes.
class Locker {
 public:
  virtual ~Locker() = default;
  virtual void take() = 0;
  /// False if it was not to be had before `end`.
  virtual bool take_until(Clock::time_point end) = 0;
  virtual void release() = 0;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual std::unique_ptr<Locker> locker(int caller, const Thing& thing) = 0;
  virtual void reserve(std::size_t count) { static_cast<void>(count); }
  /// Takes a lock and keeps it at this place, with no more memory than it takes.
  virtual void hold(int caller, std::size_t place, const std::string& key) = 0;
  /// See Face.
  virtual bool waits() const { return true; }
  virtual bool renews() const { return true; }
  virtual bool has(const std::string& kind) const { return kind == "lock"; }
};

std::unique_ptr<Face> on_threads(Contestant& contestant);

}  // namespace bench
