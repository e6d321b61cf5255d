// SPDX-License-Identifier: Apache-2.0
// Runs a history on both sides, step by step, and says where they part.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/sides.hpp"

namespace holdfast::test::oracle {

struct Difference {
  std::size_t step = 0;  // its number, from 0
  std::string what;
};

/// What is changed in the model before it begins.
using Prepare = std::function<void(ModelServer&)>;

/// After each step the reply, what everybody was told, and all keys are the same. Empty: they are throughout.
std::optional<Difference> compare(const RedisServer& server, const Likeness& like, const std::vector<Step>& history,
                                  const Prepare& prepare = {});

/// As few of these steps as still make a difference: the last one is where they part.
std::vector<Step> shortest(const RedisServer& server, const Likeness& like, std::vector<Step> history,
                           const Prepare& prepare = {});

/// Like the server that the tests start.
Likeness likeness_of_server();

}  // namespace holdfast::test::oracle
