// SPDX-License-Identifier: Apache-2.0
// Where random callers work: clients whose answers are lost and late, and a look at the server past all of that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <holdfast/async.hpp>

#include "base/clock.hpp"

namespace holdfast::test::answers {

/// Everything happens on its context, which one thread runs.
class Ground {
 public:
  Ground() = default;
  virtual ~Ground() = default;
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  virtual boost::asio::io_context& context() = 0;
  virtual std::size_t clients() const = 0;
  virtual const Client& client(std::size_t number) const = 0;
  /// Calls this on the context, so much later.
  virtual void after(std::chrono::microseconds time, std::function<void()> work) = 0;

  // What the server has now; of each key, or leased permit, for how long at most. Zero: it does not have it.
  virtual base::Duration left(const std::string& key) = 0;
  virtual base::Duration permit_left(const std::string& key, const std::string& id) = 0;
  /// Leased permits that are taken, and those of them whose leases are over.
  struct Permits {
    std::int64_t taken = 0, over = 0;
  };
  virtual Permits permits(const std::string& key) = 0;
  virtual bool has_field(const std::string& key, const std::string& field) = 0;
  virtual std::optional<std::string> text(const std::string& key) = 0;
  virtual void remove(const std::string& key) = 0;
};

}  // namespace holdfast::test::answers
