// SPDX-License-Identifier: Apache-2.0
// Ties an operation to the execution context that its handler runs on. Not for users.
#pragma once

#include <memory>

#include <boost/asio/execution_context.hpp>

#include <holdfast/detail/operation.hpp>

namespace holdfast::detail {

/// A handler's time on a context, until it is posted there or destroyed. If the context is destroyed first, the handler
/// is destroyed with it: the operation is abandoned, after waiting for a thread that is just posting the handler.
class HOLDFAST_EXPORT Stay {
 public:
  Stay() = default;
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  /// From here on the handler does not touch the context.
  virtual ~Stay() = default;
  /// Called before the operation starts. False: the context is being destroyed.
  virtual bool begin(const std::shared_ptr<Operation>& operation) = 0;
  /// This thread is about to post the handler, or to destroy it. False: it may only be destroyed.
  virtual bool end() noexcept = 0;
};
using StayPtr = std::unique_ptr<Stay>;

HOLDFAST_EXPORT StayPtr stay_on(boost::asio::execution_context& context);

}  // namespace holdfast::detail
