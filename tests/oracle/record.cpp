// SPDX-License-Identifier: Apache-2.0
#include "oracle/record.hpp"

#include <sstream>

#include "sim/model/transitions.hpp"
#include "support/evidence.hpp"
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

}  // namespace

void Record::add(const std::vector<Step>& history, bool parted) {
  ++histories_;
  steps_ += history.size();
  differences_ += parted ? 1 : 0;
  for (const Step& step : history) ++commands_[kind_of(step)];
}

void Record::write(std::uint64_t first_seed) const {
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_);
  std::ostringstream out;
  out << R"("seconds":)" << took.count() << R"(,"first_seed":)" << first_seed << R"(,"histories":)" << histories_
      << R"(,"steps":)" << steps_ << R"(,"differences":)" << differences_ << R"(,"steps_by_kind":{)";
  const char* separator = "";
  for (const auto& [kind, count] : commands_) {
    out << separator << json_text(kind) << ":" << count;
    separator = ",";
  }
  out << "}";
  append_evidence("oracle", out.str(), server_version());
}

}  // namespace holdfast::test::oracle
