// SPDX-License-Identifier: Apache-2.0
// Judges a folder of records: what a run left, once more. Usage: judge FOLDER   Exit 1 if a promise was not kept.
#include <exception>
#include <filesystem>
#include <iostream>

#include "judges/judge.hpp"

int main(int argc, char** argv) {
  using namespace holdfast::test;
  if (argc != 2) {
    std::cerr
        << "usage: judge FOLDER\n"
           "FOLDER has *.record, and story.json with the faults and settings; without it, none and the defaults.\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    Story story;
    if (std::filesystem::exists(folder / "story.json")) {
      story = read_story(folder.string());
    } else {
      story.history = History::read(folder.string());
    }
    Verdict verdict = judge(story);
    const std::string reason = why_no_porcupine();
    if (reason.empty()) {
      judge_outcomes(story, verdict);
    } else {
      std::cout << "outcomes are not judged: " << reason << "\n";
    }
    std::cout << verdict.text() << verdict.json() << "\n";
    return verdict.good() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "judge: " << error.what() << "\n";
    return 2;
  }
}
