// Events of the lock of `holdfast run` while the command runs.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/observer.hpp>

#include "base/guarded.hpp"
#include "base/text.hpp"
#include "cli/fd.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {

/// A renewal later than this is reported.
inline constexpr std::chrono::milliseconds kNotable{100};

/// Reports what the library does, and wakes the main thread. Called on the notifier threads of the clients.
class Watcher : public Observer {
 public:
  Watcher(const Console& console, const std::vector<std::string>& names)
      : console_(console), lock_("lock " + base::quote(fmt::format("{}", fmt::join(names, ", ")))) {}

  /// Set whenever a renewal has succeeded.
  const EventFd& wake() const { return wake_; }

  void on_renewed(const RenewedEvent& event) override {
    wake_.set();
    const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(event.late);
    console_.detail(lock_ + " renewed" + (late > kNotable ? fmt::format(", {} late", in_words(late)) : ""));
  }
  void on_suspect(const SuspectEvent& event) override {
    console_.note(fmt::format("lock {} could not be renewed ({}); it is certainly held for another {}",
                              base::quote(event.name), event.cause,
                              in_words(std::chrono::duration_cast<std::chrono::milliseconds>(event.valid_for))));
  }
  void on_connection(const ConnectionEvent& event) override {
    const base::Guard guard(mutex_);
    Link& link = links_[event.node];
    if (event.connected) {
      if (!link.trouble.empty()) console_.detail(fmt::format("connected to {}{}", event.node, link.again()));
      link = {.trouble = {}, .connected_before = true};
    } else if (event.needed && link.trouble != event.cause) {
      // Every attempt arrives here, but one with the same result as the last is not reported again.
      link.trouble = event.cause;
      console_.detail(fmt::format("no connection to {}: {}", event.node, event.cause));
    }
  }

 private:
  struct Link {
    std::string trouble;  // why there is none, if that was reported
    bool connected_before = false;
    const char* again() const { return connected_before ? " again" : ""; }
  };

  const Console& console_;
  const std::string lock_;
  const EventFd wake_;
  base::Mutex mutex_;
  std::map<std::string, Link> links_ HOLDFAST_GUARDED_BY(mutex_);  // by node
};

}  // namespace holdfast::cli
