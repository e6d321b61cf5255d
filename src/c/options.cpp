// SPDX-License-Identifier: Apache-2.0
#include "c/options.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <holdfast/error.hpp>

#include "c/handles.hpp"

namespace holdfast::c {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void refuse(const char* what) { throw Error(Errc::invalid_argument, {}, {}, what); }

/// What a program that was compiled with an older header does not know is unset.
hf_options known(const hf_options* options) {
  hf_options all = HF_OPTIONS;
  if (options == nullptr) return all;
  if (options->size < sizeof(all.size)) refuse("options.size is 0: begin with HF_OPTIONS");
  std::memcpy(&all, options, std::min(options->size, sizeof(all)));
  return all;
}

std::optional<milliseconds> time_of(std::int64_t ms, const char* refusal) {
  if (ms == HF_UNSET) return std::nullopt;
  if (ms < 0) refuse(refusal);
  return milliseconds(ms);
}

std::optional<Lease> lease_of(const hf_options& options) {
  const std::optional<milliseconds> length = time_of(options.lease_ms, "options.lease_ms is below 0");
  switch (options.lease) {
    case HF_LEASE_UNSET:
      return length ? std::optional(renewed(*length)) : std::nullopt;
    case HF_LEASE_RENEWED:
      return length ? renewed(*length) : renewed();
    case HF_LEASE_FIXED:
      if (!length) refuse("options.lease is HF_LEASE_FIXED, and options.lease_ms is unset");
      return fixed(*length);
    default:
      refuse("options.lease is not an hf_lease");
  }
}

std::optional<Acks> acks_of(int acks) {
  switch (acks) {
    case HF_ACKS_UNSET:
      return std::nullopt;
    case HF_ACKS_NONE:
      return Acks::none();
    case HF_ACKS_MAJORITY:
      return Acks::majority();
    case HF_ACKS_ALL:
      return Acks::all();
    case HF_ACKS_AOF:
      return Acks::aof();
    default:
      if (acks < 0 || acks > 255) refuse("options.acks is not an hf_acks, nor a number of replicas up to 255");
      return Acks::replicas(static_cast<std::uint8_t>(acks));
  }
}

std::optional<std::size_t> waiters_of(std::int64_t number) {
  if (number == HF_UNSET) return std::nullopt;
  if (number < 0) refuse("options.max_waiters is below 0");
  return static_cast<std::size_t>(number);
}

/// All that a lock and one of its calls have in common. The end of a hold never waits.
template <class Options>
Options common(const hf_options& options) {
  Options out;
  out.wait = time_of(options.wait_ms, "options.wait_ms is below 0");
  out.lease = lease_of(options);
  out.max_hold = time_of(options.max_hold_ms, "options.max_hold_ms is below 0");
  out.acks = acks_of(options.acks);
  out.max_waiters = waiters_of(options.max_waiters);
  out.end_waits = false;
  if (options.stop != nullptr) out.stop = options.stop->source.get_token();
  return out;
}

}  // namespace

LockOptions lock_options(const hf_options* options) {
  const hf_options all = known(options);
  if (all.stop != nullptr) refuse("options.stop is for calls, not for handles");
  return common<LockOptions>(all);
}

AcquireOptions acquire_options(const hf_options* options) {
  const hf_options all = known(options);
  if (all.permits != HF_UNSET) refuse("options.permits is for handles, not for calls");
  return common<AcquireOptions>(all);
}

AdoptOptions adopt_options(const hf_options* options) {
  const hf_options all = known(options);
  if (all.wait_ms != HF_UNSET || all.max_waiters != HF_UNSET || all.permits != HF_UNSET || all.stop != nullptr) {
    refuse("options: only lease, max_hold and acks are for an adoption");
  }
  AdoptOptions out;
  out.lease = lease_of(all);
  out.max_hold = time_of(all.max_hold_ms, "options.max_hold_ms is below 0");
  out.acks = acks_of(all.acks);
  return out;
}

std::int64_t permits_of(const hf_options* options) {
  const std::int64_t permits = known(options).permits;
  return permits == HF_UNSET ? 1 : permits;
}

}  // namespace holdfast::c
