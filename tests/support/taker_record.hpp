// SPDX-License-Identifier: Apache-2.0
// A file to which the threads of a taker append lines, so that what it did can be judged. See tests/README.md.
#pragma once

#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/error.hpp>

#include "taker_text.hpp"

namespace holdfast::test {

/// Thread-safe. Each line is written at once, since the process may be killed.
class TakerRecord {
 public:
  explicit TakerRecord(const std::string& file) : out_(file, std::ios::app) {}

  void write(const std::vector<std::string>& fields) {
    const std::string line = join_fields(fields) + '\n';
    const std::lock_guard guard(mutex_);
    out_ << line << std::flush;
  }

 private:
  std::mutex mutex_;
  std::ofstream out_;
};

/// The taker's word for a failure: some have their own names.
inline std::string error_word(const std::error_code& code) {
  for (const Errc each : {Errc::busy, Errc::timed_out, Errc::cancelled, Errc::lost, Errc::not_owner, Errc::unreachable,
                          Errc::unknown_outcome, Errc::denied, Errc::wrong_type, Errc::invalid_argument, Errc::closed,
                          Errc::no_quorum, Errc::would_deadlock}) {
    if (code == each) return to_string(each);
  }
  return "failed";
}

}  // namespace holdfast::test
