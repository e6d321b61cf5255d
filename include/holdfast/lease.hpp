// How long the server keeps a hold: renewed by the client's watchdog, or fixed.
#pragma once

#include <chrono>
#include <optional>

#include <holdfast/detail/standard.hpp>

namespace holdfast {

/// How long the server keeps a hold that is not renewed. A value; compare, copy, pass freely.
///
/// *Renewed* (the default): the watchdog extends it every third of its length for as long as the hold lives. If the
/// process dies, the lock is free within one lease. *Fixed*: never extended; the hold ends with the lease.
/// Lengths of 10 ms to 10 years are accepted; others fail with `Errc::invalid_argument` when acquiring, before anything
/// is sent. `Lease{}` leaves the choice to the lock's defaults (BasicLock::with); without any it is renewed with the
/// client's length. Source: docs/guarantees.md sections 2 and 3; Redisson calls these "no lease time" and "lease time".
class Lease {
 public:
  enum class Kind { renewed, fixed };

  /// Leaves the choice to the defaults.
  constexpr Lease() = default;
  /// An empty length means that of the client's Config (30 s unless changed).
  constexpr Lease(Kind kind, std::optional<std::chrono::milliseconds> length)
      : kind_(kind), given_(true), length_(length) {}

  /// False: left to the defaults.
  constexpr bool given() const { return given_; }

  constexpr Kind kind() const { return kind_; }
  /// The requested length; empty means "the client's".
  constexpr std::optional<std::chrono::milliseconds> length() const { return length_; }

  friend constexpr bool operator==(const Lease&, const Lease&) = default;

 private:
  Kind kind_ = Kind::renewed;
  bool given_ = false;
  std::optional<std::chrono::milliseconds> length_;
};

/// A lease of the client's length that the watchdog renews.
constexpr Lease renewed() { return {Lease::Kind::renewed, std::nullopt}; }
/// A lease of this length that the watchdog renews every third of it.
constexpr Lease renewed(std::chrono::milliseconds length) { return {Lease::Kind::renewed, length}; }
/// A lease of this length that nobody renews.
constexpr Lease fixed(std::chrono::milliseconds length) { return {Lease::Kind::fixed, length}; }

}  // namespace holdfast
