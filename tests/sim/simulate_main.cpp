// SPDX-License-Identifier: Apache-2.0
// Whole clients against model servers in simulated time, each run from a seed: see tests/README.md.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>

#include "sim/report.hpp"
#include "support/evidence.hpp"

namespace {

using namespace holdfast::test::sim;
using holdfast::test::remember_commit;

int simulate(const Request& request) {
  remember_commit();
  Report report(request);
  for (std::uint64_t seed = request.first; seed < request.first + request.seeds; ++seed) {
    report.take(request.scenario_of(seed), seed);
    if (report.failures() >= Request::kMostFailures) break;
  }
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--help") return std::fputs(Request::kUsage, stdout) < 0 ? 1 : 0;
    const Request request = Request::of({argv + 1, argv + argc});
    return request.repeat ? repeat(request) : simulate(request);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "simulate: %s\n%s", problem.what(), Request::kUsage);
    return 2;
  }
}
