// SPDX-License-Identifier: Apache-2.0
// What the tests of loss notices share: holds that are watched.
#pragma once

#include "faults.hpp"

namespace holdfast::test {

/// Far less than a third of the leases here, and far more than a loaded machine takes for a few round trips.
constexpr milliseconds kAtOnce = 5s;
constexpr milliseconds kLong = 60s;

/// How many keys the server tells somebody about when they change.
inline long long tracked(Raw& raw) { return std::atoll(raw.info("stats", "tracking_total_keys").c_str()); }
/// Waits until there are so many.
inline bool tracks(Raw& raw, long long keys) {
  return eventually([&] { return tracked(raw) == keys; });
}
/// How many connections have asked to be told.
inline long long trackers(Raw& raw) { return std::atoll(raw.info("clients", "tracking_clients").c_str()); }

inline bool told(const Hold& hold, milliseconds limit = kAtOnce) {
  return eventually([token = hold.lost_token()] { return token.stop_requested(); }, limit);
}

class Notice : public Faults {
 protected:
  explicit Notice(ServerOptions options = {}) : Faults(std::move(options)) {}

  /// Of this test's server, with leases so long that no renewal comes into play.
  Config long_lived() const { return long_lived(server.url()); }
  Config long_lived(const std::string& url) const {
    Config settings = config(url);
    settings.lease = kLong;
    return settings;
  }
};

}  // namespace holdfast::test
