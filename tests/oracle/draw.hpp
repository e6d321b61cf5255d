// SPDX-License-Identifier: Apache-2.0
// What a history is drawn from, the same from the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "kinds/owner.hpp"

namespace holdfast::test::oracle {

class Draw {
 protected:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  Publish publish() {
    return one_of(std::vector<Publish>{Publish::publish, Publish::publish, Publish::spublish, Publish::both});
  }
  /// By its hash, or by its text.
  std::vector<std::string> sent(const base::Command& command) {
    if (command.script == nullptr) return command.args;
    std::vector<std::string> words;
    if (below(3) == 0) {
      words = {"EVAL", std::string(command.script->text)};
    } else {
      words = {"EVALSHA", std::string(command.script->sha1)};
    }
    words.insert(words.end(), command.args.begin(), command.args.end());
    return words;
  }

 public:
  static const std::vector<wire::Owner>& owners() {
    static const std::vector<wire::Owner> all{{"11111111-2222-4333-8444-555555555555:1"},
                                              {"11111111-2222-4333-8444-555555555555:2"},
                                              {"99999999-2222-8333-8444-555555555555:7"}};
    return all;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace holdfast::test::oracle
