// SPDX-License-Identifier: Apache-2.0
// A row of the table of commands that a server knows.
#pragma once

#include <cstddef>

#include "sim/model/model_server.hpp"

namespace holdfast::test {

struct ModelServer::Verb {
  enum class Keys { none, one, all };  // behind the verb
  Handler run = nullptr;
  std::size_t least = 1;  // words, the verb included
  Keys keys = Keys::none;
  bool reads = false;     // what it reads is tracked
  bool scripted = false;  // its third word says how many keys follow
  bool sharded = false;   // what its key names is a sharded channel
};

}  // namespace holdfast::test
