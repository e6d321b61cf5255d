// `holdfast ls`: the locks that are held.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using Row = std::array<std::string, 3>;

/// Columns on a screen: bytes that continue a UTF-8 sequence take none.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, 3> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    out += row.back() + "\n";
  }
  return out;
}

}  // namespace

int ls(const CommonOptions& common, const LsOptions& options, const Console& console) {
  Client client(make_config(common));
  std::vector<LockInfo> locks = client.list(options.pattern);
  std::sort(locks.begin(), locks.end(), [](const LockInfo& a, const LockInfo& b) { return a.name < b.name; });

  if (console.json()) {
    boost::json::array out;
    for (const LockInfo& lock : locks) out.push_back(to_json(lock));
    console.result(json_line(out));
    return kExitOk;
  }
  std::string text;
  if (console.quiet()) {
    for (const LockInfo& lock : locks) text += printable(lock.name) + "\n";
  } else {
    std::vector<Row> rows{{"NAME", "OWNER", "TTL"}};
    for (const LockInfo& lock : locks) {
      rows.push_back(
          {printable(lock.name), printable(lock.owner), lock.remaining ? in_words(*lock.remaining) : "none"});
    }
    text = table(rows);
  }
  console.result(text);
  return kExitOk;
}

}  // namespace holdfast::cli
