// The credentials of a connection, and their renewal before they expire.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/aside.hpp"
#include "redis/connection/attempts.hpp"
#include "redis/connection/op.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// The credentials for a login: from the configuration, or from the user's code. On the loop.
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

/// On the loop.
class CredentialWatch {
 public:
  /// Sends AUTH.
  using Send = std::function<void(const base::Command& auth)>;

  /// The references outlive it.
  CredentialWatch(timing::Schedule& schedule, const Config& config, const Lifeline& lifeline, CredentialSource& source,
                  Send send);

  /// The server has accepted these.
  void start(const CredentialSource::Given& given);
  /// The connection is gone.
  void stop();
  /// The reply to AUTH.
  void on_reply(const base::Reply& reply);
  /// Why the latest renewal failed; empty: it did not.
  const std::string& problem() const { return problem_; }

  /// When to replace credentials that were requested at that time: early enough to retry if that fails.
  static base::TimePoint due(base::TimePoint asked_at, base::Duration valid_for);

 private:
  void on_alarm();
  void on_given(const CredentialSource::Given& given, const std::string& problem);
  void fail(std::string problem);

  const base::Duration limit_;
  const Lifeline& lifeline_;
  CredentialSource& source_;
  const Send send_;
  timing::Alarm alarm_;
  CredentialSource::Given given_;  // sent last
  Backoff pauses_;
  std::string problem_;
};

}  // namespace holdfast::redis
