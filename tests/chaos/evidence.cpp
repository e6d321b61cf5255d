#include "chaos/evidence.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/json.hpp>

#include "support/paths.hpp"
#include "support/process.hpp"

namespace holdfast::test::chaos {
namespace {

namespace json = boost::json;

std::string git(const std::vector<std::string>& words) {
  std::vector<std::string> args{"-C", source_path("")};
  args.insert(args.end(), words.begin(), words.end());
  std::string said = run_checked("git", args);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return said;
}

/// `+` behind it: of a tree with changes. Empty where there is no git.
std::string commit() {
  try {
    return git({"rev-parse", "--short", "HEAD"}) + (git({"status", "--porcelain", "-uno"}).empty() ? "" : "+");
  } catch (const std::exception&) {
    return "";
  }
}

std::string utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

double in_ms(Microseconds time) { return static_cast<double>(time) / 1000; }

}  // namespace

std::string in_words(const RunResult& result) {
  std::ostringstream out;
  out << "  " << result.operations() << " operations in " << result.seconds << " s; faults:";
  for (const auto& [fault, times] : result.faults) out << " " << fault << " " << times << ";";
  out << "\n";
  std::istringstream verdict(result.verdict.text());
  for (std::string line; std::getline(verdict, line);) out << "  " << line << "\n";
  for (const std::string& each : result.not_done) out << "  not done: " << each << "\n";
  out << "  " << result.hangs.size() << " hangs\n";
  for (const std::string& each : result.hangs) out << "    " << each << "\n";
  return out.str();
}

std::string evidence(const std::string& shape, std::uint64_t seed, const RunResult& result) {
  const Verdict& verdict = result.verdict;
  json::object record{{"part", "chaos"},
                      {"commit", commit()},
                      {"at", utc()},
                      {"seconds", result.seconds},
                      {"shape", shape},
                      {"seed", seed},
                      {"operations", result.operations()},
                      {"promised_violations", verdict.violations.size()},
                      {"hangs", result.hangs.size()},
                      {"worst_wait_ms", in_ms(verdict.longest_acquire)},
                      {"counted", {{"overlaps", verdict.overlaps_counted}, {"forgotten", verdict.forgotten}}},
                      {"not_done", result.not_done.size()}};
  const json::value judged = json::parse(verdict.json());
  for (const auto& [name, value] : judged.as_object()) record.insert_or_assign(name, value);
  if (verdict.forgotten == 0) {
    record.erase("told_median_ms");
    record.erase("told_worst_ms");
  }
  return json::serialize(record);
}

void append_evidence(const std::string& shape, std::uint64_t seed, const RunResult& result) {
  const char* const named = std::getenv("HOLDFAST_EVIDENCE");
  const std::filesystem::path file = named != nullptr ? named : build_path("results/evidence/chaos.jsonl");
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::app) << evidence(shape, seed, result) + "\n";
}

}  // namespace holdfast::test::chaos
