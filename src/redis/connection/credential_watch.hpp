// Renews the credentials of a connection before they expire.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/backoff.hpp"
#include "redis/connection/credential_source.hpp"
#include "redis/connection/lifeline.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

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
