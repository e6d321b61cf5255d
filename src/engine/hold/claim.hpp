// Who uses what the server has granted to this client: what a Hold, or a thread's entry, points to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/observer.hpp>
#include <holdfast/outcome.hpp>

#include "engine/decide/hold_fsm.hpp"
#include "engine/loop/notifier.hpp"
#include "wire/calls.hpp"

namespace holdfast::engine {

/// How the end of a hold is announced: stop tokens, those who watch it, and `on_lost`. Only few holds have one that is
/// not empty. It is filled before the hold is lost, since there may be no memory then. The hold guards it with its
/// mutex, except for what runs the user's code.
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

class Acquirable;
class Runtime;
class Tenancy;

/// What a release needs to know of the tenancy that it ends.
struct Ending {
  TimePoint deadline{};
  TimePoint extended_at{};
  TimePoint give_up{};  // when the server has certainly let it expire
  bool stood = false;
  std::optional<TimePoint> since{};  // when the claim began that ends with it; empty: nobody had it
};

/// A claim on a tenancy, with a loss signal and an outcome of its own. It shares the tenancy's fate until it ends; what
/// becomes of the tenancy afterwards no longer concerns it. Thread-safe: the tenancy's mutex guards it, and the user's
/// code runs without that mutex.
class Claim {
 public:
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  Tenancy& tenancy();
  const Tenancy& tenancy() const;
  /// Keeps the client alive.
  const std::shared_ptr<Runtime>& runtime() const;
  const std::shared_ptr<Acquirable>& target() const;

  HoldState state();
  /// Zero once it is lost. If its time is over, it becomes lost here, and its stop token is stopped.
  Duration valid_for();
  Duration durable_for();  ///< The same, even if the primary fails at this moment.
  /// Stopped already if its time is over, whether or not a thread of this client has noticed that yet.
  std::stop_token stop_token();
  /// Why it was lost, if it was. Checks the clock first.
  std::optional<LossReason> loss_reason();
  /// It ends only by a release or a fault.
  bool endless() const;
  /// Still ours as far as we know. Without side effects.
  bool stands() const;
  /// When this claim began.
  TimePoint granted_at() const;
  /// Of the release; `unknown` as long as it is not known.
  ReleaseOutcome known_outcome() const;

  /// `on_end` is called at the end of the claim, perhaps at once, on any thread; it must not block. Returns what
  /// unwatch() takes.
  std::uint64_t watch(LossSignal::EndCallback on_end);
  void unwatch(std::uint64_t watching);  ///< The callback may still be called once after this.

  /// For changes.cpp: from now on its owner may have it together with others. Returns the extension that this is.
  /// Empty: it does not stand, or has been given back.
  std::optional<HoldFsm::Extension> begin_share();

  // For hold_release.cpp, which decides how it is given back.
  /// `left`: others here still have the tenancy. `last`: it ends with this claim, and the caller takes it from whoever
  /// renews it. `ended`: somebody else ends it, or has.
  enum class Release { left, last, ended };
  /// `rest`: for so long it is to stay taken behind its end, and behind that of the tenancy if others still have it.
  Release begin_release(Ending& ending, milliseconds rest = {}) noexcept;
  /// Ends it if others of this client have the tenancy as well: nothing is to be sent.
  bool leave_to_others(TimePoint now) noexcept;
  /// Ends it if it is the only claim on its tenancy, and that can be passed on to another caller. The tenancy stays as
  /// it is.
  bool begin_pass_on(TimePoint now);
  /// It has just ended, by a release or a loss: measures how long it lasted.
  void measure_end(TimePoint now) const noexcept;
  /// Tells those who watch that it has ended, and why it was lost if it was. Without the mutex.
  void tell_end(std::optional<LossReason> lost) noexcept;

  /// Shares its ownership with whoever has it.
  std::shared_ptr<Claim> self();

 private:
  friend class Tenancy;
  /// `first`: the one that is a part of its tenancy.
  enum class Which : std::uint8_t { first, later };
  Claim(Which which, const LossSignal::LostCallback& on_lost);
  ~Claim() = default;
  void request_stop() noexcept;

  LossSignal signal_;
  // Two bytes: fields of the tenancy fit in behind them.
  const Which which_;
  bool open_ : 1 = false;      // one of its tenancy's claims: it has not ended
  bool released_ : 1 = false;  // by its holder
  bool parted_ : 1 = false;    // it has ended, and the tenancy went on
  bool left_ : 1 = false;      // parted, and what it wanted to be left is left when the tenancy ends
};

}  // namespace holdfast::engine
