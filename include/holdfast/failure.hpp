// Why an asynchronous operation failed, as a value.
#pragma once

#include <memory>
#include <system_error>

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

/// What the operations of async.hpp complete with in place of an error code; false if there was no failure. Tokens that
/// throw (`use_awaitable`, `use_future`) throw its Error, which names the lock, the server and the cause. A value;
/// copies are cheap and do not throw.
class HOLDFAST_EXPORT Failure {
 public:
  Failure() noexcept = default;
  explicit Failure(Error error);

  explicit operator bool() const noexcept { return error_ != nullptr; }
  /// Empty if there was no failure.
  std::error_code code() const noexcept;
  /// The whole message; empty if there was no failure.
  const char* what() const noexcept;
  /// The same as an exception. Only if there was a failure.
  const Error& error() const noexcept { return *error_; }

  friend bool operator==(const Failure& failure, Errc code) noexcept { return failure.code() == code; }
  friend bool operator==(const Failure& failure, const std::error_condition& condition) noexcept {
    return failure.code() == condition;
  }

 private:
  std::shared_ptr<const Error> error_;
};

}  // namespace holdfast
