// What a run tells: to a reader, and to the page of evidence.
#pragma once

#include <cstdint>
#include <string>

#include "chaos/run.hpp"

namespace holdfast::test::chaos {

/// The summary of a shape.
std::string in_words(const RunResult& result);

/// One line of JSON.
std::string evidence(const std::string& shape, std::uint64_t seed, const RunResult& result);
/// Appends that line to HOLDFAST_EVIDENCE, or to build/results/evidence/chaos.jsonl.
void append_evidence(const std::string& shape, std::uint64_t seed, const RunResult& result);

}  // namespace holdfast::test::chaos
