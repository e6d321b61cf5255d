// SPDX-License-Identifier: Apache-2.0
// The histories of locks as Porcupine wants them: steps that each happened at some moment between two times. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "judges/view.hpp"

namespace holdfast::test {

/// One step of an owner of a lock; `linearizable/main.go` says what each does.
struct Step {
  const char* kind = "";
  long long owner = 0;
  Microseconds called = 0, ended = 0;  ///< kNever: it may still happen.
  long long token = 0;
  std::string ref;  ///< By which describe() finds where it comes from.
};

/// Steps of one lock, at the beginning of which it was in a known state.
struct Piece {
  Text name;
  long long holder = 0;  ///< Who has it then; 0: nobody.
  std::vector<Step> steps;
};

/// Calls `take` with the pieces of the histories of all locks, of about so many steps each; of a read-write lock
/// without its readers, and of semaphores with none. A history is cut while somebody surely has the lock: what comes
/// before and behind such a moment can be judged apart, and nothing is lost by it.
void each_piece(const View& view, std::size_t steps, const std::function<void(const Piece&)>& take);

/// The record behind a step, in words.
std::string describe(const View& view, const std::string& ref);

}  // namespace holdfast::test
