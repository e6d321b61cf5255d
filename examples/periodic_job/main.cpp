// SPDX-License-Identifier: Apache-2.0
// A job that only one instance runs at a time: periodic_job URL JOURNAL NAME is an instance.
// periodic_job --try [URL] starts three, and kills and freezes some.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "periodic_job/job.hpp"
#include "periodic_job/trial.hpp"

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argc <= 3 && std::string(argv[1]) == "--try") {
      const char* url = argc > 2 ? argv[2] : std::getenv("HOLDFAST_URL");
      return periodic_job::try_out(url ? url : "redis://127.0.0.1:6379") ? 0 : 1;
    }
    if (argc == 4) {
      periodic_job::run(argv[1], argv[2], argv[3]);
      return 0;
    }
    std::fprintf(stderr, "usage: periodic_job URL JOURNAL NAME\n       periodic_job --try [URL]\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "periodic_job: %s\n", error.what());
  }
  return 2;
}
