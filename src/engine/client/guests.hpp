// The clients on one io_context, which end when it is destroyed, if not before.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/execution_context.hpp>

#include "base/guarded.hpp"

namespace holdfast::engine {

class Core;

/// A service of the io_context. When that is destroyed while clients are open, their operations are dropped, as Asio
/// drops its own: handlers are destroyed and never called.
class Guests final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  explicit Guests(boost::asio::execution_context& context) : service(context) {}
  /// Thread-safe.
  void add(std::weak_ptr<Core> guest);

 private:
  void shutdown() noexcept override;

  base::Mutex mutex_;
  std::vector<std::weak_ptr<Core>> guests_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
