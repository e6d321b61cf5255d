// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include "support/paths.hpp"
#include "support/taker_config.hpp"
#include "support/taker_text.hpp"

namespace holdfast::test {
namespace {

/// One line, in the way of the taker protocol: the members in their order, then the figures in pairs.
std::string to_line(const Record& record) {
  std::vector<std::string> fields{record.suite,   record.test,   record.first,   record.peer,
                                  record.version, record.server, record.verdict, record.reason};
  for (const auto& [what, value] : record.figures) fields.insert(fields.end(), {what, value});
  return join_fields(fields);
}

Record from_line(const std::string& line) {
  const std::vector<std::string> fields = split_fields(line);
  if (fields.size() < 8 || fields.size() % 2 != 0) throw std::runtime_error("not a record: " + line);
  Record record{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7], {}};
  for (std::size_t i = 8; i < fields.size(); i += 2) record.figures.emplace_back(fields[i], fields[i + 1]);
  return record;
}

}  // namespace

void write_record(const Record& record) {
  std::filesystem::create_directories(record_folder());
  const std::string name = record.suite + "." + record.test + "." + record.peer + "." + record.first;
  const std::string file = record_folder() + "/" + name + ".record";
  const std::string draft = file + "." + std::to_string(getpid());
  std::ofstream(draft) << to_line(record) << '\n';
  std::filesystem::rename(draft, file);
}

std::vector<Record> read_records(const std::string& folder) {
  std::vector<Record> records;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".record") continue;
    std::string line;
    std::ifstream in(entry.path());
    std::getline(in, line);
    records.push_back(from_line(line));
  }
  return records;
}

std::string record_folder() {
  const std::string which = optimisations();
  return build_path("results/interop") + (which == "default" ? "" : "." + which);
}

}  // namespace holdfast::test
