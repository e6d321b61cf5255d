// SPDX-License-Identifier: Apache-2.0
#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

const char* to_string(ReleaseOutcome outcome) noexcept {
  switch (outcome) {
    case ReleaseOutcome::released:
      return "released";
    case ReleaseOutcome::was_lost:
      return "was_lost";
    case ReleaseOutcome::unknown:
      return "unknown";
    case ReleaseOutcome::left:
      return "left";
    case ReleaseOutcome::empty:
      return "empty";
  }
  return "?";
}

const char* to_string(UnlockOutcome outcome) noexcept {
  switch (outcome) {
    case UnlockOutcome::released:
      return "released";
    case UnlockOutcome::still_held:
      return "still_held";
    case UnlockOutcome::was_lost:
      return "was_lost";
    case UnlockOutcome::unknown:
      return "unknown";
  }
  return "?";
}

const char* to_string(NotGranted reason) noexcept {
  switch (reason) {
    case NotGranted::busy:
      return "busy";
    case NotGranted::timed_out:
      return "timed_out";
    case NotGranted::stopped:
      return "stopped";
    case NotGranted::crowded:
      return "crowded";
  }
  return "?";
}

const char* to_string(HoldState state) noexcept {
  switch (state) {
    case HoldState::held:
      return "held";
    case HoldState::suspect:
      return "suspect";
    case HoldState::lost:
      return "lost";
    case HoldState::released:
      return "released";
    case HoldState::empty:
      return "empty";
  }
  return "?";
}

const char* to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::expired:
      return "expired";
    case LossReason::taken:
      return "taken";
    case LossReason::max_hold:
      return "max_hold";
    case LossReason::closed:
      return "closed";
    case LossReason::forked:
      return "forked";
  }
  return "?";
}

const char* to_string(WaitOutcome outcome) noexcept {
  switch (outcome) {
    case WaitOutcome::granted:
      return "granted";
    case WaitOutcome::timed_out:
      return "timed_out";
    case WaitOutcome::cancelled:
      return "cancelled";
    case WaitOutcome::failed:
      return "failed";
  }
  return "?";
}

const char* to_string(UnknownEvent::Operation operation) noexcept {
  switch (operation) {
    case UnknownEvent::Operation::acquire:
      return "acquire";
    case UnknownEvent::Operation::release:
      return "release";
  }
  return "?";
}

}  // namespace holdfast
