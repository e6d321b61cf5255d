// SPDX-License-Identifier: Apache-2.0
// Hands the pieces of the histories to the program in `linearizable`, and reads what it found.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "judges/judge.hpp"
#include "judges/outcomes.hpp"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test {
namespace {

constexpr std::size_t kSteps = 1000;  // of a piece: memory grows with the square

std::string peers_file(const std::string& name) {
  const char* const elsewhere = std::getenv("HOLDFAST_PEERS_DIR");
  const std::string folder = elsewhere == nullptr || *elsewhere == '\0' ? source_path("build/peers") : elsewhere;
  return folder + "/porcupine/" + name;
}

/// What a program writes to its output. Throws std::runtime_error if it fails.
std::vector<std::string> output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::vector<std::string> lines(1);
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  lines.pop_back();
  return lines;
}

}  // namespace

std::string why_no_porcupine() {
  if (std::filesystem::exists(peers_file("run"))) return {};
  std::string reason;
  std::ifstream in(peers_file("skipped"));
  std::getline(in, reason);
  return reason.empty() ? "not built (tools/peers)" : reason;
}

void judge_outcomes(const Story& story, Verdict& verdict) {
  const View view(story);
  const TempDir folder;
  const std::string file = folder.file("pieces");
  std::vector<Text> names;
  {
    std::ofstream out(file);
    each_piece(view, kSteps, [&](const Piece& piece) {
      out << "piece " << names.size() << ' ' << piece.holder << '\n';
      names.push_back(piece.name);
      for (const Step& step : piece.steps) {
        out << step.kind << ' ' << step.owner << ' ' << step.called << ' ' << step.ended << ' ' << step.token << ' '
            << step.ref << '\n';
      }
    });
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
  }
  bool ended = false;
  for (const std::string& line : output_of("'" + peers_file("run") + "' '" + file + "'")) {
    std::istringstream words(line);
    std::string what, ref;
    std::size_t piece = 0;
    words >> what >> piece;
    if (what == "checked") {
      words >> verdict.outcomes_judged;
      verdict.outcome_pieces = static_cast<long long>(piece);
      ended = true;
    } else if (what == "undecided") {
      ++verdict.outcome_pieces_undecided;
    } else {
      words >> ref;
      verdict.violations.push_back(
          {"outcome", "what happened to " + names.at(piece).str() +
                          " has no order in which it could; there is no place for: " + describe(view, ref)});
    }
  }
  if (!ended) throw std::runtime_error("the judge of outcomes did not end");
}

}  // namespace holdfast::test
