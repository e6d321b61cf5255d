// Which of a server's addresses to try, when, and in which order. Pure; the time is an input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.hpp"

namespace holdfast::redis {

/// The addresses of a name are tried one after the other, each a little later than the one before, or at once when that
/// one has refused; earlier attempts continue, and the first to connect wins (as in RFC 8305). So an address that never
/// answers costs a quarter of a second, not the whole time for connecting.
class AddressRace {
 public:
  static constexpr base::Duration kHeadStart = std::chrono::milliseconds(250);

  /// All are tried in the first half of `limit`.
  AddressRace(std::size_t addresses, base::Duration limit)
      : addresses_(addresses),
        head_start_(
            std::min(kHeadStart, limit / 2 / static_cast<base::Duration::rep>(std::max<std::size_t>(1, addresses)))) {}

  struct Step {
    std::optional<std::size_t> dial;        ///< Dial this one now.
    std::optional<base::TimePoint> look{};  ///< on_time() is due then, unless something else happens first.
    bool lost = false;                      ///< None is left.
  };

  Step start(base::TimePoint now) { return dial(now); }
  Step on_time(base::TimePoint now) { return dial(now); }
  /// One of the dialled addresses has refused.
  Step on_refused(base::TimePoint now) {
    --dialled_;
    return dial(now);
  }

 private:
  Step dial(base::TimePoint now) {
    if (next_ == addresses_) return {.dial = {}, .lost = dialled_ == 0};
    ++dialled_;
    Step step{.dial = next_++};
    if (next_ < addresses_) step.look = now + head_start_;
    return step;
  }

  const std::size_t addresses_;
  const base::Duration head_start_;
  std::size_t next_ = 0;
  std::size_t dialled_ = 0;  // and not refused
};

/// The order in which to try addresses: that of the name server, but with alternating families, since one of them may
/// not be reachable; `last` comes last.
template <class Address, class Family>
std::vector<Address> in_turn(const std::vector<Address>& addresses, Family family, const std::optional<Address>& last) {
  std::vector<Address> same, other, order;
  for (const Address& each : addresses) {
    if (each != last) (family(each) == family(addresses.front()) ? same : other).push_back(each);
  }
  for (std::size_t i = 0; i < std::max(same.size(), other.size()); ++i) {
    if (i < same.size()) order.push_back(same[i]);
    if (i < other.size()) order.push_back(other[i]);
  }
  if (last && order.size() < addresses.size()) order.push_back(*last);
  return order;
}

}  // namespace holdfast::redis
