// SPDX-License-Identifier: Apache-2.0
// One line that a taker was given.
#pragma once

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/options.hpp>

namespace holdfast::test {

/// One line: fields[0] is the tag, fields[1] the command's word, then the arguments.
class TakerCommand {
 public:
  explicit TakerCommand(std::vector<std::string> fields) : fields_(std::move(fields)) {}
  const std::string& tag() const { return fields_[0]; }
  const std::string& verb() const { return fields_[1]; }
  std::size_t count() const { return fields_.size() - 2; }
  const std::string& argument(std::size_t i) const {
    if (i >= count()) throw std::invalid_argument(verb() + ": an argument is missing");
    return fields_[i + 2];
  }
  long long number(std::size_t i) const { return std::stoll(argument(i)); }
  /// The lease at this place: none or 0 means renewed.
  Lease lease(std::size_t i) const {
    const std::chrono::milliseconds length(i < count() ? number(i) : 0);
    return length.count() == 0 ? renewed() : fixed(length);
  }
  bool has_thread() const {
    static const std::vector<std::string_view> kVerbs{"lock",          "try",         "unlock",   "mine",
                                                      "count",         "valid",       "lost",     "increment",
                                                      "increment_for", "compare_for", "hold_for", "counting"};
    return std::find(kVerbs.begin(), kVerbs.end(), verb()) != kVerbs.end();
  }

 private:
  std::vector<std::string> fields_;
};

}  // namespace holdfast::test
