// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what the servers are, and which of their properties endanger locks.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/probe.hpp>

#include "base/text.hpp"
#include "cli/at_servers.hpp"
#include "cli/console.hpp"
#include "cli/json.hpp"
#include "cli/source.hpp"
#include "cli/trial.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::microseconds;

Severity severity_named(const std::string& option, const std::string& text) {
  for (const Severity each : {Severity::unknown, Severity::note, Severity::warning, Severity::danger}) {
    if (text == to_string(each)) return each;
  }
  throw UsageError(fmt::format("{}: {} is not one of danger, warning, note, unknown", option, shown(text)));
}

/// With a name: also takes and releases that lock.
ProbeReport examine(const Config& config, const std::optional<std::string>& name) {
  ProbeReport report = probe(Client(config), name.value_or(""));
  if (!name || !report.reached()) return report;
  const bool one_server =
      std::ranges::count(report.nodes, ProbedNode::Part::server, &ProbedNode::part) == 1;  // else only one was tried
  Finding tried = try_lock(config, *name);
  if (one_server) tried.node = report.nodes.front().address;
  const bool works = tried.severity == Severity::ok;
  if (works && one_server) std::erase_if(report.findings, [](const Finding& each) { return each.id == "untried"; });
  report.findings.push_back(std::move(tried));
  return report;
}

Severity worst_of(const std::vector<Finding>& findings) {
  return findings.empty() ? Severity::ok : findings.front().severity;
}

std::string precisely(microseconds time) {
  return time < std::chrono::milliseconds(100)
             ? fmt::format("{:.2f} ms", static_cast<double>(time.count()) / 1000)
             : cli::in_words(std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

// ---- for people ----

constexpr std::size_t kSeverityWidth = 7;

/// Colours, if the output is a terminal.
class Paint {
 public:
  Paint() : on_(isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {}

  Shown severity(Severity severity) const {
    const std::string word = fmt::format("{:<{}}", to_string(severity), kSeverityWidth);
    switch (severity) {
      case Severity::danger:
        return in("1;31", word);
      case Severity::warning:
        return in("33", word);
      case Severity::ok:
        return in("32", word);
      case Severity::note:
      case Severity::unknown:
        break;
    }
    return in("36", word);
  }
  Shown bold(const std::string& text) const { return in("1", text); }
  Shown dim(const std::string& text) const { return in("2", text); }

 private:
  Shown in(const char* style, const std::string& text) const { return on_ ? Shown::styled(style, text) : Shown(text); }
  const bool on_;
};

/// The text in lines of this many columns at most, broken at spaces; the second and all further ones indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out;
  std::size_t used = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!out.empty() && used + 1 + word.size() > columns) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
  }
  return out;
}

std::string rows_of_nodes(const std::vector<ProbeReport>& reports) {
  std::vector<std::vector<std::string>> rows{{"NODE", "PART", "SOFTWARE", "ROLE", "ROUND TRIP", "CLOCK"}};
  for (const ProbeReport& report : reports) {
    for (const ProbedNode& node : report.nodes) {
      const std::string part = to_string(node.part);
      if (!node.answered) {
        rows.push_back({printable(node.address), part, "no answer", "", "", ""});
        continue;
      }
      const std::string clock =
          node.clock_ahead ? fmt::format("{}{} +- {}", node.clock_ahead->count() < 0 ? "-" : "+",
                                         precisely(std::chrono::abs(*node.clock_ahead)), precisely(node.clock_error))
                           : "";
      rows.push_back({printable(node.address), part, for_log(node.software + " " + node.version), for_log(node.role),
                      node.round_trip_p50 ? precisely(*node.round_trip_p50) : "", clock});
    }
  }
  return table(std::move(rows));
}

constexpr std::size_t kColumns = 110;
constexpr std::size_t kIndent = 25;

Shown line(const Paint& paint, Severity severity, const std::string& id, std::string_view text) {
  Shown out = paint.severity(severity);
  return out += Shown(fmt::format("  {:<14}  {}\n", id, wrapped(text, kIndent, kColumns)));
}

/// The findings at one node. Checks that are fine share one line, unless all are wanted.
Shown about(const std::string& node, const std::vector<Finding>& findings, const Paint& paint, const Console& console) {
  Shown text;
  std::string fine;
  for (const Finding& finding : findings) {
    if (finding.node != node || (console.quiet() && finding.severity < Severity::warning)) continue;
    if (finding.severity == Severity::ok && !console.verbose()) {
      fine += (fine.empty() ? "" : ", ") + finding.id;
      continue;
    }
    text += line(paint, finding.severity, finding.id, for_log(base::without_logins(finding.text)));
    if (finding.advice.empty()) continue;
    text += Shown(std::string(kIndent, ' '));
    text += paint.dim("-> " + wrapped(for_log(finding.advice), kIndent + 3, kColumns));
    text += Shown("\n");
  }
  if (!fine.empty()) {
    text += paint.severity(Severity::ok);
    text += Shown("  " + wrapped(fine, kSeverityWidth + 2, kColumns) + "\n");
  }
  return text;
}

Shown in_lines(const std::vector<ProbeReport>& reports, const std::vector<Finding>& findings, const Console& console) {
  const Paint paint;
  std::vector<std::string> nodes{""};
  for (const ProbeReport& report : reports) {
    for (const ProbedNode& node : report.nodes) nodes.push_back(node.address);
  }
  Shown text(console.quiet() ? "" : rows_of_nodes(reports));
  for (const std::string& node : nodes) {
    const Shown section = about(node, findings, paint, console);
    if (section.empty()) continue;
    if (!text.empty()) text += Shown("\n");
    if (nodes.size() > 2) {
      text += paint.bold(node.empty() ? "together" : printable(node));
      text += Shown("\n");
    }
    text += section;
  }
  if (console.quiet()) return text;
  const auto count = [&](Severity severity) { return std::ranges::count(findings, severity, &Finding::severity); };
  return text += Shown(fmt::format("\n{} danger, {} warning, {} note, {} unknown, {} ok\n", count(Severity::danger),
                                   count(Severity::warning), count(Severity::note), count(Severity::unknown),
                                   count(Severity::ok)));
}

class DoctorVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.text("--try NAME", try_name_,
              R"(take the lock of this name, wait for it with a second client, and give it back, unless
somebody has it; up to 10 s more)");
    line.value("--fail-on SEVERITY",
               R"(what is exit code 1, with all that is worse: danger, warning (default), note or unknown)",
               [this](const std::string& option, const std::string& text) { fail_on_ = severity_named(option, text); });
    line.flag("--strict", strict_, R"(the same as --fail-on unknown)");
  }
  void accept(const CommandLine& line) override {
    line.none();
    if (strict_ && line.has("--fail-on")) throw UsageError("--strict and --fail-on exclude each other");
    if (strict_) fail_on_ = Severity::unknown;
  }
  int run(const Console& console) override;

 private:
  Severity fail_on_ = Severity::warning;  // the lowest severity that the exit code reports
  bool strict_ = false;
  std::optional<std::string> try_name_;  // a lock to be taken and given back
};

int DoctorVerb::run(const Console& console) {
  const std::vector<ProbeReport> reports =
      ask_all(make_configs(console), [this](const Config& config) { return examine(config, try_name_); });
  const std::vector<Finding> findings = json::all_findings(reports);
  console.result(console.json() ? Shown(json_line(json::to_json(reports, findings)))
                                : in_lines(reports, findings, console));
  if (!std::ranges::all_of(reports, &ProbeReport::reached)) return kExitUnavailable;
  return worst_of(findings) < fail_on_ ? kExitOk : kExitNo;
}

}  // namespace

extern const VerbEntry doctor_verb{.name = "doctor",
                                   .summary = R"(examine the servers, what about them endangers locks)",
                                   .head = R"(holdfast doctor [OPTIONS]

Examines the server, its replicas and its Sentinels, and says what about them endangers locks, and what to do about it:
permissions, eviction, persistence, failover, clocks, limits, and more. Changes nothing there without --try. Takes 10 s
at most. With several servers, says too what is wrong between them. What could not be checked is shown as unknown;
what a lock needs and could not be tried, as a warning.
)",
                                   .end = R"(
Exit codes
  0   nothing as bad as --fail-on          64  wrong usage
  1   warnings or dangers, or --fail-on    69  a server cannot be reached or refuses the login
                                           70  internal error

Examples
  holdfast doctor
  holdfast doctor --try nightly-backup
  holdfast doctor -q --url redis://a --url redis://b --url redis://c
  holdfast doctor --json | jq -r '.findings[] | select(.severity == "danger") | .id'
)",
                                   .make = make_verb<DoctorVerb>};

}  // namespace holdfast::cli
