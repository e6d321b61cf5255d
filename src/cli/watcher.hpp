// What `holdfast run` hears of its lock while the command runs.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <holdfast/observer.hpp>

#include "base/text.hpp"
#include "cli/fd.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {

/// A renewal that is later than this is worth a word.
inline constexpr std::chrono::milliseconds kNotable{100};

/// Tells what the library does meanwhile, and wakes the main thread. Called on the notifier threads of the clients.
class Watcher : public Observer {
 public:
  explicit Watcher(const Console& console) : console_(console) {}

  /// Set whenever a renewal came through.
  const EventFd& wake() const { return wake_; }

  void on_renewed(const RenewedEvent& event) override {
    wake_.set();
    const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(event.late);
    console_.detail(late > kNotable ? fmt::format("renewed, {} late", in_words(late)) : "renewed");
  }
  void on_suspect(const SuspectEvent& event) override {
    console_.note(fmt::format("lock {} could not be renewed ({}); it is certain for {} more", base::quote(event.name),
                              event.cause,
                              in_words(std::chrono::duration_cast<std::chrono::milliseconds>(event.valid_for))));
  }
  void on_lost(const LostEvent& event) override { loss_reason_ = static_cast<int>(event.reason); }
  void on_connection(const ConnectionEvent& event) override {
    {
      // Every attempt is told, but one that ends as the last one did is no news.
      const std::scoped_lock guard(mutex_);
      if (std::exchange(trouble_[event.node], event.cause) == event.cause && !event.connected) return;
    }
    if (event.connected && event.times > 1) console_.detail(fmt::format("connected to {} again", event.node));
    if (!event.connected) console_.detail(fmt::format("no connection to {}: {}", event.node, event.cause));
  }

  std::optional<LossReason> loss_reason() const {
    const int reason = loss_reason_;
    return reason < 0 ? std::nullopt : std::optional(static_cast<LossReason>(reason));
  }

 private:
  const Console& console_;
  const EventFd wake_;
  std::atomic<int> loss_reason_{-1};
  std::mutex mutex_;
  std::map<std::string, std::string> trouble_;  // guarded by mutex_; by node, the last cause of a breakdown
};

}  // namespace holdfast::cli
