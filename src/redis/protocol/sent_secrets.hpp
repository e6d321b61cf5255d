// The passwords that were sent to a server, and how its words are shown without them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class SentSecrets {
 public:
  /// An empty one is none. Only the last few are remembered: tokens change.
  void add(std::string secret);
  /// The text with `***` in place of each secret.
  std::string hidden_in(std::string_view text) const;
  /// The same for the beginning of a longer text, which may end within a secret.
  std::string hidden_in_beginning(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;
};

}  // namespace holdfast::redis
