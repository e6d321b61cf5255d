// Ties an operation to the execution context that its handler runs on. Not for users.
#pragma once

#include <memory>

#include <boost/asio/execution_context.hpp>

#include <holdfast/detail/operation.hpp>

namespace holdfast::detail {

/// A handler's stay with a context, until it is posted there or destroyed. If the context is destroyed first, it takes
/// the handler along: the operation is abandoned, and whoever is posting the handler just then is waited for.
class HOLDFAST_EXPORT Stay {
 public:
  Stay() = default;
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  /// From here on nothing of the handler touches the context.
  virtual ~Stay() = default;
  /// It begins, before the operation starts. False: the context is being destroyed.
  virtual bool begin(const std::shared_ptr<Operation>& operation) = 0;
  /// This thread is about to post the handler, or to destroy it. False: it may only be destroyed.
  virtual bool end() noexcept = 0;
};
using StayPtr = std::unique_ptr<Stay>;

HOLDFAST_EXPORT StayPtr stay_on(boost::asio::execution_context& context);

}  // namespace holdfast::detail
