#include "engine/client/guests.hpp"

#include "engine/client/core.hpp"

namespace holdfast::engine {

boost::asio::execution_context::id Guests::id;

void Guests::add(std::weak_ptr<Core> guest) {
  const base::Guard guard(mutex_);
  std::erase_if(guests_, [](const auto& each) { return each.expired(); });
  guests_.push_back(std::move(guest));
}

void Guests::shutdown() noexcept {
  std::vector<std::weak_ptr<Core>> guests;
  {
    const base::Guard guard(mutex_);
    guests.swap(guests_);
  }
  for (const std::weak_ptr<Core>& each : guests) {
    if (const std::shared_ptr<Core> guest = each.lock()) guest->drop_all();
  }
}

}  // namespace holdfast::engine
