// The credentials for a login: from the configuration, or from the user's code.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/connection/aside.hpp"

namespace holdfast::redis {

/// On the loop.
class CredentialSource {
 public:
  /// The most calls of the user's code that run in the process at the same time.
  static constexpr int kMostInProcess = 256;

  struct Given {
    Credentials credentials{};
    base::TimePoint asked_at{};
  };
  /// The credentials, or why there are none, as text.
  using Found = std::function<void(const Given& given, const std::string& problem)>;

  /// The configuration outlives it.
  CredentialSource(const boost::asio::any_io_executor& executor, const Config& config);

  /// True if the user's code provides them; otherwise they never change.
  bool changes() const { return static_cast<bool>(config_.credentials); }
  /// Calls `found` once, possibly at once, unless the next ask(), forget() or leave() comes first. Has no time limit:
  /// the caller calls forget().
  void ask(Found found);
  void forget();
  bool asking() const { return asking_; }
  /// From now on nothing is posted to the loop. From any thread.
  void leave() { asked_.leave(); }

 private:
  const Config& config_;
  Aside<Given> asked_;
  bool asking_ = false;
};

}  // namespace holdfast::redis
