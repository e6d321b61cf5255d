// A hold, or none: the result of calls that may find the lock taken.
#pragma once

#include <optional>
#include <utility>

#include <holdfast/hold.hpp>

namespace holdfast {

/// Like std::optional<Hold>, and convertible to one, but only a named one can be tested. `if (lock.try_acquire())`
/// would release the lock before the next line, so that does not compile. Instead:
///
///     if (auto hold = lock.try_acquire({.wait = 2s})) critical();   // held in here
///
/// Threads: as for Hold. Moving leaves an empty Hold behind, as with std::optional.
class [[nodiscard]] MaybeHold {
 public:
  MaybeHold() noexcept = default;
  // As those of std::optional.
  // NOLINTBEGIN(google-explicit-constructor)
  MaybeHold(std::nullopt_t) noexcept {}
  MaybeHold(Hold hold) noexcept : hold_(std::move(hold)) {}
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const& noexcept { return hold_.has_value(); }
  explicit operator bool() const&& = delete;  // the hold would end here: give it a name
  bool has_value() const& noexcept { return hold_.has_value(); }
  bool has_value() const&& = delete;  // the hold would end here: give it a name
  friend bool operator==(const MaybeHold& maybe, std::nullopt_t) noexcept { return !maybe.hold_; }
  friend bool operator==(const MaybeHold&& maybe, std::nullopt_t) = delete;  // the hold would end here: give it a name

  /// Only if there is one.
  Hold& operator*() & noexcept { return *hold_; }
  const Hold& operator*() const& noexcept { return *hold_; }
  Hold operator*() && noexcept { return std::move(*hold_); }
  Hold* operator->() & noexcept { return &*hold_; }
  const Hold* operator->() const& noexcept { return &*hold_; }
  const Hold* operator->() const&& = delete;  // the hold would end here: give it a name

  /// Throws std::bad_optional_access if there is none.
  Hold& value() & { return hold_.value(); }
  const Hold& value() const& { return hold_.value(); }
  Hold value() && { return std::move(hold_).value(); }

  /// Ends the hold, if there is one, as its destructor does.
  void reset() noexcept { hold_.reset(); }

  operator std::optional<Hold>() && noexcept { return std::move(hold_); }  // NOLINT(google-explicit-constructor)

 private:
  std::optional<Hold> hold_;
};

}  // namespace holdfast
