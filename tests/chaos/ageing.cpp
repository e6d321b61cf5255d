// SPDX-License-Identifier: Apache-2.0
#include "chaos/ageing.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace holdfast::test::chaos {
namespace {

/// A tenth, and some besides: heaps are never quite still.
constexpr long long kPartOfMemory = 10, kMoreKilobytes = 4096;
constexpr long long kMoreDescriptors = 8, kMoreThreads = 4;

long long entries(const std::string& folder, std::error_code& error) {
  return std::distance(std::filesystem::directory_iterator(folder, error), std::filesystem::directory_iterator());
}

std::string from_to(long long young, long long old, const char* what) {
  return std::to_string(young) + " to " + std::to_string(old) + " " + what;
}

}  // namespace

std::optional<Used> used_by(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  long long all = 0, resident = 0;
  if (!(std::ifstream(folder + "/statm") >> all >> resident) || all == 0) return std::nullopt;
  std::error_code error;
  const Used used{.kilobytes = resident * sysconf(_SC_PAGESIZE) / 1024,
                  .descriptors = entries(folder + "/fd", error),
                  .threads = entries(folder + "/task", error)};
  return error ? std::nullopt : std::optional(used);
}

std::optional<Ageing> ageing(std::span<const Used> samples) {
  constexpr std::size_t kFewest = 16;
  if (samples.size() < kFewest) return std::nullopt;
  const auto most_of_quarter = [&](std::size_t which) {
    Used most;
    for (const Used& each : samples.subspan(which * samples.size() / 4, samples.size() / 4)) {
      most = {.kilobytes = std::max(most.kilobytes, each.kilobytes),
              .descriptors = std::max(most.descriptors, each.descriptors),
              .threads = std::max(most.threads, each.threads)};
    }
    return most;
  };
  return Ageing{most_of_quarter(1), most_of_quarter(3)};
}

std::string growth(const Ageing& ageing) {
  const auto& [young, old] = ageing;
  std::string grew;
  if (old.kilobytes > young.kilobytes + young.kilobytes / kPartOfMemory + kMoreKilobytes) {
    grew += ", memory from " + from_to(young.kilobytes, old.kilobytes, "kB");
  }
  if (old.descriptors > young.descriptors + kMoreDescriptors) {
    grew += ", from " + from_to(young.descriptors, old.descriptors, "descriptors");
  }
  if (old.threads > young.threads + kMoreThreads) {
    grew += ", from " + from_to(young.threads, old.threads, "threads");
  }
  return grew.empty() ? grew : grew.substr(2);
}

std::string in_words(const Ageing& ageing) {
  const auto& [young, old] = ageing;
  return from_to(young.kilobytes, old.kilobytes, "kB, ") +
         from_to(young.descriptors, old.descriptors, "descriptors, ") + from_to(young.threads, old.threads, "threads");
}

}  // namespace holdfast::test::chaos
