// How the end of a hold is announced: stop tokens, those who watch it, and `on_lost`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include <holdfast/observer.hpp>
#include <holdfast/outcome.hpp>

#include "engine/loop/notifier.hpp"

namespace holdfast::engine {

/// Only few holds have one that is not empty. It is filled before the hold is lost, since there may be no memory then.
/// The hold guards it with its mutex, except for what runs the user's code.
class LossSignal {
 public:
  using LostCallback = std::function<void(const LostEvent&)>;
  /// Called once, at the end: why it was lost, or nothing if it has ended otherwise.
  using EndCallback = std::function<void(std::optional<LossReason>)>;
  /// Those who are told of the end. Posted as a notice it calls `on_lost`, and belongs to the notifier from then on;
  /// the class that is derived from it knows what was lost.
  class Watches : public Notifier::Notice {
   public:
    explicit Watches(LostCallback callback = {}) : on_lost(std::move(callback)) {}
    std::uint64_t add(EndCallback on_end);
    EndCallback remove(std::uint64_t watching);
    /// Calls all who were added. Once, without the mutex.
    void tell(std::optional<LossReason> lost) const noexcept;

    const LostCallback on_lost;

   private:
    std::map<std::uint64_t, EndCallback> ends_;
  };
  using WatchesPtr = std::unique_ptr<Watches>;
  class Stop;

  /// Null: nobody watches yet.
  explicit LossSignal(WatchesPtr first);

  // With the hold's mutex.
  /// `lost`: it is stopped already.
  std::stop_token token(bool lost);
  /// To be stopped without the mutex; without state if nobody has a token.
  std::stop_source source() const;
  /// Null: nobody has a token; whoever asks for one later finds it stopped.
  Stop* stop() const;
  /// Null, for the first who watches to fill.
  WatchesPtr& watches();
  /// What is returned is to be destroyed without the mutex.
  EndCallback unwatch(std::uint64_t watching);
  WatchesPtr take_watches();

  // Without it.
  /// Stops the tokens on the signals' thread, and keeps the hold alive until then. Once.
  static void post(Stop& stop, Notifier& signals, std::shared_ptr<void> hold) noexcept;

 private:
  struct Destroy {
    void operator()(Stop* stop) const noexcept;
  };
  Stop& made();

  std::unique_ptr<Stop, Destroy> stop_;  // once somebody watches or has asked for a token, and then to the end
};

}  // namespace holdfast::engine
