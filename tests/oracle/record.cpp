#include "oracle/record.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "sim/model/transitions.hpp"
#include "support/paths.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::oracle {
namespace {

/// What a step counts as: a script by its name, trouble by its own, all else by its verb.
std::string kind_of(const Step& step) {
  if (step.kind > Step::Kind::brief) return "trouble";
  const std::string& verb = step.words.front();
  if (verb == "EVALSHA") return std::string(script_of_sha1(step.words[1])->script->name);
  if (verb == "EVAL") return std::string(script_of_text(step.words[1])->script->name);
  return verb;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string from_environment(const char* variable, std::string otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::move(otherwise) : std::string(value);
}

}  // namespace

void Record::add(const std::vector<Step>& history, bool parted) {
  ++histories_;
  steps_ += history.size();
  differences_ += parted ? 1 : 0;
  for (const Step& step : history) ++commands_[kind_of(step)];
}

void Record::write(std::uint64_t first_seed) const {
  const std::string path =
      from_environment("HOLDFAST_EVIDENCE", build_path("results/evidence/oracle.jsonl"));
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_);
  std::ofstream out(path, std::ios::app);
  out << R"({"part": "oracle", "commit": ")" << from_environment("HOLDFAST_COMMIT", "unknown") << R"(", "at": ")"
      << now() << R"(", "seconds": )" << took.count() << R"(, "server": ")" << server_version()
      << R"(", "first_seed": )" << first_seed << R"(, "histories": )" << histories_ << R"(, "steps": )" << steps_
      << R"(, "differences": )" << differences_ << R"(, "steps_by_kind": {)";
  const char* separator = "";
  for (const auto& [kind, count] : commands_) {
    out << separator << '"' << kind << "\": " << count;
    separator = ", ";
  }
  out << "}}\n";
}

}  // namespace holdfast::test::oracle
