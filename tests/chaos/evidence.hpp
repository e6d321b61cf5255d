// SPDX-License-Identifier: Apache-2.0
// What a run tells: to a reader, and to the page of evidence.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "chaos/run.hpp"

namespace holdfast::test::chaos {

/// The summary of a shape.
std::string in_words(const RunResult& result);

/// How often each promise was broken.
std::map<std::string, long long> broken_promises(const RunResult& result);

/// Appends a record for docs/evidence.md.
void record_run(const std::string& shape, std::uint64_t seed, const RunResult& result);

}  // namespace holdfast::test::chaos
