#include "engine/client/guests.hpp"

#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include "base/guarded.hpp"

namespace holdfast::engine {
namespace {

/// All clients on one io_context: a service of it.
class Guests final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  explicit Guests(boost::asio::execution_context& context) : service(context) {}
  /// Thread-safe.
  void add(std::weak_ptr<Core> guest) {
    const base::Guard guard(mutex_);
    std::erase_if(guests_, [](const auto& each) { return each.expired(); });
    guests_.push_back(std::move(guest));
  }

 private:
  void shutdown() noexcept override {
    std::vector<std::weak_ptr<Core>> guests;
    {
      const base::Guard guard(mutex_);
      guests.swap(guests_);
    }
    for (const std::weak_ptr<Core>& each : guests) {
      if (const std::shared_ptr<Core> guest = each.lock()) guest->drop_all();
    }
  }

  base::Mutex mutex_;
  std::vector<std::weak_ptr<Core>> guests_ HOLDFAST_GUARDED_BY(mutex_);
};

boost::asio::execution_context::id Guests::id;

}  // namespace

std::shared_ptr<Core> make_guest(Config config, boost::asio::io_context& host) {
  auto core = Core::make(std::move(config), &host);
  boost::asio::use_service<Guests>(host).add(core);
  return core;
}

}  // namespace holdfast::engine
