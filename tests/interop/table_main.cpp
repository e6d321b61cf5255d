// SPDX-License-Identifier: Apache-2.0
// Writes docs/records/interop.md: interop_table FOLDER-OF-RECORDS > PAGE. Exit 3 if a peer could not run.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <string>

#include "record.hpp"
#include "table.hpp"

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  gmtime_r(&now, &date);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &date);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: interop_table FOLDER-OF-RECORDS\n";
    return 2;
  }
  try {
    const std::vector<holdfast::test::Record> records = holdfast::test::read_records(argv[1]);
    std::cout << holdfast::test::interop_page(records, today());
    const bool complete = std::ranges::none_of(records, [](const auto& it) { return it.verdict == "skipped"; });
    return records.empty() || !complete ? 3 : 0;
  } catch (const std::exception& error) {
    std::cerr << "interop_table: " << error.what() << '\n';
    return 1;
  }
}
