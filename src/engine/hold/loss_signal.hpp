// How the end of a hold is told: stop tokens, those who watch it, and `on_lost`.
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

class Claim;

/// What only few holds have. It is made before they are lost, since then there may be no memory. The hold guards it
/// with its mutex, but for what runs the user's code.
class LossSignal {
 public:
  using LostCallback = std::function<void(const LostEvent&)>;
  /// Called once, at the end: why it was lost, or nothing if it has ended otherwise.
  using EndCallback = std::function<void(std::optional<LossReason>)>;
  class Watches;
  class Stop;
  struct Destroy {
    void operator()(Watches* watches) const noexcept;
    void operator()(Stop* stop) const noexcept;
  };
  using WatchesPtr = std::unique_ptr<Watches, Destroy>;

  explicit LossSignal(const LostCallback& on_lost);

  // With the hold's mutex.
  /// `lost`: it is stopped already.
  std::stop_token token(bool lost);
  /// To be stopped without the mutex; without state if nobody has a token.
  std::stop_source source() const;
  /// Null: nobody has a token; whoever asks for one later finds it lost.
  Stop* stop() const;
  /// Returns what unwatch() takes.
  std::uint64_t watch(EndCallback on_end);
  /// To be destroyed without the mutex.
  EndCallback unwatch(std::uint64_t watching);
  WatchesPtr take_watches();

  // Without it.
  /// Stops the tokens on the signals' thread. Once.
  static void post(Stop& stop, std::shared_ptr<Claim> hold) noexcept;
  /// Calls all who watch, and `on_lost` on the notifier's thread. Once.
  static void tell(WatchesPtr watches, std::shared_ptr<Claim> hold, std::optional<LossReason> lost) noexcept;

 private:
  Stop& made();

  std::unique_ptr<Stop, Destroy> stop_;  // once somebody watches or has asked for a token, and then to the end
};

}  // namespace holdfast::engine
