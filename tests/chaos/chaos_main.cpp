// SPDX-License-Identifier: Apache-2.0
// Real servers and processes under a schedule of faults from a seed. See tests/README.md.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/evidence.hpp"
#include "chaos/server_faults.hpp"
#include "chaos/shapes.hpp"
#include "support/evidence.hpp"
#include "support/number.hpp"
#include "support/paths.hpp"

namespace {

using namespace holdfast::test;
using namespace holdfast::test::chaos;

struct Options {
  double minutes = 5;
  double control = 0;  // seconds for each shape
  std::uint64_t seed = 1;
  std::vector<std::string> shapes;
  bool swarm = false;
  bool old = false;
  bool list = false;
  bool keep = false;
};

/// In minutes.
constexpr double kShortest = 0.1, kLongestOfAll = 100'000;
/// In seconds. The shortest has time for many overlaps.
constexpr double kShortestControl = 3, kLongestControl = 60;

[[noreturn]] void usage(const std::string& why) {
  std::cerr << "chaos: " << why
            << "\nusage: chaos [--minutes M] [--seed S] [--shape NAME]... [--swarm] [--old] [--keep] [--control S] "
               "[--list]\n";
  std::exit(2);
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) usage(words[i - 1] + " wants a value");
      return words[i];
    };
    try {
      if (words[i] == "--minutes") {
        options.minutes = number_in<double>(value(), kShortest, kLongestOfAll);
      } else if (words[i] == "--control") {
        options.control = number_in<double>(value(), kShortestControl, kLongestControl);
      } else if (words[i] == "--seed") {
        options.seed = number_in<std::uint64_t>(value());
      } else if (words[i] == "--shape") {
        options.shapes.push_back(value());
      } else if (words[i] == "--swarm") {
        options.swarm = true;
      } else if (words[i] == "--old") {
        options.old = true;
      } else if (words[i] == "--keep") {
        options.keep = true;
      } else if (words[i] == "--list") {
        options.list = true;
      } else {
        usage("what is \"" + words[i] + "\"?");
      }
    } catch (const std::invalid_argument& problem) {
      usage(problem.what());
    }
  }
  return options;
}

std::vector<Shape> chosen(const std::vector<std::string>& names) {
  if (names.empty()) return shapes();
  std::vector<Shape> found;
  for (const std::string& name : names) {
    const auto shape = std::ranges::find(shapes(), name, &Shape::name);
    if (shape == shapes().end()) usage("no such shape: " + name);
    found.push_back(*shape);
  }
  return found;
}

void list() {
  for (const Shape& each : shapes()) std::cout << each.name << "\n";
  std::cout << "\n";
  for (const FaultTraits& each : all_faults()) std::cout << each.name << "\n";
}

/// Each shape for so long with locks that are not shared: a run that shows nothing then shows nothing at any time. True
/// if overlaps and lost updates are found in each.
bool control_all(const Options& options) {
  bool found = true;
  for (const Shape& shape : chosen(options.shapes)) {
    const RunOptions run_options{.seed = options.seed,
                                 .length = Milliseconds(static_cast<long long>(options.control * 1000)),
                                 .folder = build_path("results/chaos/") + shape.name + "-control",
                                 .locks = false,
                                 .say = [](const std::string&) {}};
    const RunResult result = run(shape, run_options);
    const std::map<std::string, long long> broken = broken_promises(result);
    std::cout << shape.name << " without common locks, " << result.operations() << " operations:";
    for (const auto& [promise, times] : broken) std::cout << " " << promise << " " << times << ";";
    const bool shown = broken.contains("exclusion") && broken.contains("lost update");
    std::cout << (shown ? "" : " THE CONTROL FINDS NOTHING") << std::endl;
    record_run(shape.name, options.seed, result);
    std::filesystem::remove_all(run_options.folder);
    found = found && shown;
  }
  return found;
}

/// Longer runs of a shape are made of several, each with a seed of its own, unless processes are to grow old.
constexpr Milliseconds kLongest{600000};

/// True if all went as promised.
bool run_all(const Options& options) {
  const std::vector<Shape> all = chosen(options.shapes);
  const Milliseconds share(static_cast<long long>(options.minutes * 60000 / static_cast<double>(all.size())));
  const auto rounds = options.old ? 1 : (share.count() + kLongest.count() - 1) / kLongest.count();
  std::mutex mutex;
  bool good = true;
  for (long long round = 0; round < rounds; ++round) {
    for (const Shape& shape : all) {
      const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(round);
      const double minutes = static_cast<double>(share.count()) / static_cast<double>(rounds) / 60000;
      const RunOptions run_options{.seed = seed,
                                   .length = share / rounds,
                                   .folder = build_path("results/chaos/") + shape.name + "-" + std::to_string(seed),
                                   .swarm = options.swarm,
                                   .old = options.old,
                                   .say = [&](const std::string& line) {
                                     const std::lock_guard guard(mutex);
                                     std::cout << "  " << line << std::endl;
                                   }};
      std::cout << shape.name << ", seed " << seed << std::endl;
      RunResult result;
      try {
        result = run(shape, run_options);
      } catch (const std::exception& error) {
        result.hangs.push_back(std::string("the run broke off: ") + error.what());
      }
      std::cout << in_words(result) << std::flush;
      record_run(shape.name, seed, result);
      if (result.good()) {
        if (!options.keep) std::filesystem::remove_all(run_options.folder);
        continue;
      }
      good = false;
      std::cout << "repeat: build/tests/chaos --shape " << shape.name << " --seed " << seed << " --minutes " << minutes
                << (options.swarm ? " --swarm" : "") << (options.old ? " --old" : "")
                << "\nrecords: " << run_options.folder << std::endl;
    }
  }
  return good;
}

}  // namespace

int main(int count, char** words) {
  const Options options = parse({words + 1, words + count});
  if (options.list) {
    list();
    return 0;
  }
  remember_commit();
  std::string why;
  if (!use_small_disk(why)) std::cout << "without a small disk: " << why << "\n";
  if (!why_no_porcupine().empty()) std::cout << "outcomes are not judged: " << why_no_porcupine() << "\n";
  for (const std::string& each : missing_peers()) std::cout << "without " << each << "\n";
  try {
    return (options.control > 0 ? control_all(options) : run_all(options)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "chaos: " << error.what() << "\n";
    return 1;
  }
}
