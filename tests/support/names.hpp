// SPDX-License-Identifier: Apache-2.0
// What host names mean in this process: a name server that a test commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

/// While it lives, the system's look-up of `name` (getaddrinfo) finds these addresses, or no answer. Other names are
/// looked up as always. For names of a test's own, such as `two.test`; thread-safe.
class Name {
 public:
  struct Address {
    std::string host;  ///< An address.
    std::uint16_t port = 0;
  };

  explicit Name(std::string name, std::vector<Address> addresses = {});
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  /// Look-ups that wait are answered: there is no such name.
  ~Name();

  void set(std::vector<Address> addresses);
  /// From now on look-ups wait, until this is switched off.
  void silent(bool on);
  /// How many look-ups there have been, and how many wait.
  int asked() const;
  int waiting() const;
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

}  // namespace holdfast::test
