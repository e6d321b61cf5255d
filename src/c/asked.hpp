// SPDX-License-Identifier: Apache-2.0
// Who asks for a hold's lock: told to those who wait for it, or kept for whoever waits next.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <holdfast/detail/operation.hpp>
#include <holdfast/hold.hpp>

#include "base/guarded.hpp"

namespace holdfast::c {

class Asked : public std::enable_shared_from_this<Asked> {
 public:
  using ReceiverPtr = detail::ReceiverPtr<Failure, std::int64_t>;

  /// Listens from now on, until the hold ends. Throws std::bad_alloc.
  static std::shared_ptr<Asked> listen(Hold& hold);

  /// Somebody asks.
  void hear() noexcept;
  /// The hold has ended.
  void end(Failure why) noexcept;
  /// Receives how often somebody has asked since the last time that was received, once that is more than 0; or why the
  /// hold has ended. Throws std::bad_alloc.
  detail::OperationPtr wait(ReceiverPtr receiver);

 private:
  class Wait;

  void settle() noexcept;
  /// Whether it still waited, and does not any more. The caller keeps it alive.
  bool take(const Wait& wait) noexcept;

  base::Mutex mutex_;
  std::int64_t unheard_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  Failure ended_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Wait>> waiting_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::c
