// SPDX-License-Identifier: Apache-2.0
#include "c/failure.hpp"

#include <exception>
#include <new>
#include <system_error>

namespace holdfast::c {
namespace {

thread_local Failure last;
thread_local hf_error last_error{};

constexpr hf_error kOk{HF_OK, 0, "", "", "", ""};
/// Where there is no memory for more.
constexpr hf_error kExhausted{HF_EXHAUSTED, 1, "exhausted: no memory", "", "", "no memory"};

int remember(const hf_error& error) noexcept {
  last = Failure();
  last_error = error;
  return error.code;
}

}  // namespace

hf_error error_of(const Failure& failure) noexcept {
  if (!failure) return kOk;
  const Error& error = failure.error();
  return {error.code().value(), error.may_pass() ? 1 : 0, error.what(),
          error.key().c_str(),  error.node().c_str(),     error.cause().c_str()};
}

int failed(const Failure& failure) noexcept {
  last = failure;
  last_error = error_of(last);
  return last_error.code;
}

int failed_now() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return failed(Failure(error));
    } catch (const std::bad_alloc&) {
      return remember(kExhausted);
    } catch (const std::system_error& error) {  // no more threads or descriptors
      return failed(Failure(Error(Errc::exhausted, {}, {}, error.what(), true)));
    } catch (const std::exception& error) {
      return failed(Failure(Error(Errc::server_error, {}, {}, error.what())));
    } catch (...) {
      return failed(Failure(Error(Errc::server_error, {}, {}, "an unknown exception")));
    }
  } catch (...) {
    return remember(kExhausted);
  }
}

int refused(const char* what) noexcept {
  return guarded([&] { return failed(Failure(Error(Errc::invalid_argument, {}, {}, what))); });
}

Failure not_granted(NotGranted reason, std::string name) {
  switch (reason) {
    case NotGranted::busy:
      return Failure(Error(Errc::busy, std::move(name), {}, "somebody else holds it"));
    case NotGranted::timed_out:
      return Failure(Error(Errc::timed_out, std::move(name), {}, "somebody else held it until the wait was over"));
    case NotGranted::stopped:
      return Failure(Error(Errc::cancelled, std::move(name), {}, "the wait was ended"));
    case NotGranted::crowded:
      return Failure(Error(Errc::crowded, std::move(name), {}, "as many wait for it as may"));
  }
  return Failure(Error(Errc::busy, std::move(name), {}, {}));
}

}  // namespace holdfast::c

using holdfast::Errc;

// The codes are those of Errc, which a program may have compiled in.
static_assert(
    HF_BUSY == static_cast<int>(Errc::busy) && HF_TIMED_OUT == static_cast<int>(Errc::timed_out) &&
    HF_CANCELLED == static_cast<int>(Errc::cancelled) && HF_LOST == static_cast<int>(Errc::lost) &&
    HF_NOT_OWNER == static_cast<int>(Errc::not_owner) && HF_UNREACHABLE == static_cast<int>(Errc::unreachable) &&
    HF_UNKNOWN_OUTCOME == static_cast<int>(Errc::unknown_outcome) && HF_DENIED == static_cast<int>(Errc::denied) &&
    HF_TLS == static_cast<int>(Errc::tls) && HF_WRONG_TYPE == static_cast<int>(Errc::wrong_type) &&
    HF_READ_ONLY == static_cast<int>(Errc::read_only) && HF_OUT_OF_MEMORY == static_cast<int>(Errc::out_of_memory) &&
    HF_UNSUPPORTED_BY_SERVER == static_cast<int>(Errc::unsupported_by_server) &&
    HF_SERVER_ERROR == static_cast<int>(Errc::server_error) &&
    HF_INVALID_ARGUMENT == static_cast<int>(Errc::invalid_argument) && HF_FORKED == static_cast<int>(Errc::forked) &&
    HF_CLOSED == static_cast<int>(Errc::closed) && HF_WOULD_DEADLOCK == static_cast<int>(Errc::would_deadlock) &&
    HF_NO_QUORUM == static_cast<int>(Errc::no_quorum) && HF_EXHAUSTED == static_cast<int>(Errc::exhausted) &&
    HF_DURABILITY_NOT_MET == static_cast<int>(Errc::durability_not_met) &&
    HF_CROWDED == static_cast<int>(Errc::crowded) && HF_NOT_SET == static_cast<int>(Errc::not_set) &&
    HF_TOO_FEW == static_cast<int>(Errc::too_few));

const hf_error* hf_last_error() {
  if (holdfast::c::last_error.text == nullptr) holdfast::c::last_error = holdfast::c::kOk;
  return &holdfast::c::last_error;
}

const char* hf_code_name(int code) {
  switch (code) {
    case HF_OK:
      return "ok";
    case HF_INTERRUPTED:
      return "interrupted";
    case HF_NOTHING:
      return "nothing";
    default:
      return code >= HF_BUSY && code <= HF_TOO_FEW ? holdfast::to_string(static_cast<Errc>(code)) : "?";
  }
}
