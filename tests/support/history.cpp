#include "support/history.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/taker_text.hpp"

namespace holdfast::test {

void History::add(const std::string& client, std::string_view line) {
  const std::vector<std::string> fields = split_fields(line);
  const auto number = [&](std::size_t i) { return std::stoll(fields.at(i)); };
  const std::string& what = fields.front();
  if (what == "hold" && fields.size() == 12) {
    holds.push_back({client, fields[1], fields[2], number(3), number(4), number(5), number(6), number(7), number(8),
                     fields[9], fields[10], number(11)});
  } else if (what == "fail" && fields.size() == 5) {
    failures.push_back({client, fields[1], number(2), number(3), fields[4]});
  } else if ((what == "connected" || what == "disconnected") && fields.size() == 4) {
    connections.push_back({client, number(1), fields[2], what == "connected"});
  } else {
    throw std::invalid_argument("no line of a record: " + std::string(line));
  }
}

History History::read(const std::string& folder) {
  History history;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".record")) continue;
    std::ifstream in(entry.path());
    const std::string client = file.substr(0, file.find('.'));
    for (std::string line; std::getline(in, line) && !in.eof();) history.add(client, line);
  }
  return history;
}

std::vector<HeldOnce> History::holds_of(const std::string& name) const {
  std::vector<HeldOnce> found;
  std::ranges::copy_if(holds, std::back_inserter(found), [&](const HeldOnce& hold) { return hold.name == name; });
  return found;
}

}  // namespace holdfast::test
