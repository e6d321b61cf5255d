// SPDX-License-Identifier: Apache-2.0
#include "chaos/evidence.hpp"

#include <cstdlib>
#include <sstream>
#include <string_view>

#include <boost/json.hpp>

#include "support/evidence.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::chaos {
namespace {

namespace json = boost::json;

double in_ms(Microseconds time) { return static_cast<double>(time) / 1000; }

}  // namespace

std::string in_words(const RunResult& result) {
  std::ostringstream out;
  out << "  " << result.operations() << " operations in " << result.seconds << " s; faults:";
  for (const auto& [fault, times] : result.faults) out << " " << fault << " " << times << ";";
  out << "\n  operations by language:";
  for (const auto& [language, operations] : result.operations_by) out << " " << language << " " << operations << ";";
  out << "\n";
  std::istringstream verdict(result.verdict.text());
  for (std::string line; std::getline(verdict, line);) out << "  " << line << "\n";
  for (const std::string& each : result.not_done) out << "  not done: " << each << "\n";
  out << "  " << result.hangs.size() << " hangs\n";
  for (const std::string& each : result.hangs) out << "    " << each << "\n";
  for (const auto& [client, ageing] : result.aged) out << "  " << client << ": " << in_words(ageing) << "\n";
  for (const std::string& each : result.grown()) out << "  GROWN " << each << "\n";
  return out.str();
}

std::map<std::string, long long> broken_promises(const RunResult& result) {
  std::map<std::string, long long> counted;
  for (const Violation& each : result.verdict.violations) ++counted[each.promise];
  return counted;
}

void record_run(const std::string& shape, std::uint64_t seed, const RunResult& result) {
  const Verdict& verdict = result.verdict;
  json::object record{{"seconds", result.seconds},
                      {"shape", shape},
                      {"control", !result.locks},
                      {"swarm", result.swarm},
                      {"protocol", std::getenv("HOLDFAST_TEST_RESP2") != nullptr ? 2 : 3},
                      {"seed", seed},
                      {"others", json::array(result.others.begin(), result.others.end())},
                      {"operations", result.operations()},
                      {"operations_by", json::value_from(result.operations_by)},
                      {"promised_violations", verdict.violations.size()},
                      {"hangs", result.hangs.size()},
                      {"worst_wait_ms", in_ms(verdict.longest_acquire)},
                      {"counted", {{"overlaps", verdict.overlaps_counted}, {"forgotten", verdict.forgotten}}},
                      {"not_done", result.not_done.size()},
                      {"aged", result.aged.size()},
                      {"grown", result.grown().size()}};
  const json::value judged = json::parse(verdict.json());
  for (const auto& [name, value] : judged.as_object()) record.insert_or_assign(name, value);
  if (verdict.forgotten == 0) {
    record.erase("told_median_ms");
    record.erase("told_worst_ms");
  }
  const std::string line = json::serialize(record);
  append_evidence("chaos", std::string_view(line).substr(1, line.size() - 2), server_version());
}

}  // namespace holdfast::test::chaos
