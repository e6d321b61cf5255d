// Who says what a connection logs in with: the configuration, or the user's code.
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
  /// At most so many calls of the user's code are under way in the process.
  static constexpr int kMostInProcess = 256;

  struct Given {
    Credentials credentials{};
    base::TimePoint asked_at{};
  };
  /// What is given, or in words why nothing is.
  using Found = std::function<void(const Given& given, const std::string& problem)>;

  /// The configuration outlives it.
  CredentialSource(const boost::asio::any_io_executor& executor, const Config& config);

  /// The user's code is asked; else they never change.
  bool changes() const { return static_cast<bool>(config_.credentials); }
  /// Calls `found` once, perhaps at once, unless the next ask(), forget() or leave() comes first. Has no limit of its
  /// own: whoever waits forgets it.
  void ask(Found found);
  void forget();
  bool asking() const { return asking_; }
  /// From any thread: nothing is posted to the loop any more.
  void leave() { asked_.leave(); }

 private:
  const Config& config_;
  Aside<Given> asked_;
  bool asking_ = false;
};

}  // namespace holdfast::redis
