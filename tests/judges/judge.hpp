// SPDX-License-Identifier: Apache-2.0
// What a story proves of the promises in docs/guarantees.md.
#pragma once

#include <string>

#include "judges/story.hpp"
#include "judges/verdict.hpp"

namespace holdfast::test {

/// The sweep for exclusion, waits and free locks, losses told, and updates. Pure.
Verdict judge(const Story& story);

/// Each lock's acquires, releases and refusals against a model of the lock, by Porcupine, a program in Go
/// (`linearizable`): adds to the verdict of judge(). Throws std::runtime_error if the program fails.
void judge_outcomes(const Story& story, Verdict& verdict);
/// Why that cannot be done here; empty if it can.
std::string why_no_porcupine();

}  // namespace holdfast::test
