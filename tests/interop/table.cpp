// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "peer.hpp"
#include "support/paths.hpp"

namespace holdfast::test {
namespace {

std::string text_of_source(const std::string& file) {
  std::ifstream in(source_path(file));
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Words that keep their capital inside a sentence.
const std::set<std::string, std::less<>> kNames{"Holdfast", "Redisson", "Redlock"};

std::string holder(const std::string& first) {
  if (first.empty()) return "both";
  return first == "peer" ? "peer" : "Holdfast";
}

/// In a table, `|` and line ends would end a cell.
std::string in_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

class Page {
 public:
  Page(std::vector<Record> records, const std::string& date) : records_(std::move(records)) {
    std::ranges::sort(records_, {}, [](const Record& it) { return std::tie(it.suite, it.test, it.first, it.peer); });
    out_ << interop_introduction() << "Run on " << date << " with " << joined(&Record::server) << ".\n";
    const std::vector<std::string> suites = suites_by_family();
    for (const std::string& suite : suites) {
      out_ << "\n### " << as_sentence(suite) << "\n\n";
      write_verdicts(suite);
    }
    out_ << "\n## Figures\n";
    for (const std::string& suite : suites) write_figures(suite);
    write_notes();
  }
  std::string text() const { return out_.str(); }

 private:
  using Cells = std::map<std::string, std::string>;         // by peer
  using Rows = std::vector<std::pair<std::string, Cells>>;  // by the cells in front of them

  std::string joined(std::string Record::* member) const {
    std::set<std::string> values;
    for (const Record& record : records_) values.insert(record.*member);
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
  }

  /// Those with the same first peer stand together.
  std::vector<std::string> suites_by_family() const {
    std::vector<std::string> suites;
    for (const Record& record : records_) {
      if (suites.empty() || suites.back() != record.suite) suites.push_back(record.suite);
    }
    std::ranges::stable_sort(suites, {}, [this](const std::string& suite) {
      const auto columns = columns_of(suite);
      const std::vector<std::string> order = every_peer();
      return std::ranges::find(order, columns.empty() ? "" : columns[0].first) - order.begin();
    });
    return suites;
  }

  static Cells& row(Rows& rows, const std::string& label) {
    for (auto& [name, cells] : rows) {
      if (name == label) return cells;
    }
    return rows.emplace_back(label, Cells{}).second;
  }

  void write_verdicts(const std::string& suite) {
    Rows rows;
    for (const Record& record : records_) {
      if (record.suite != suite || !has_column(suite, record.peer)) continue;
      row(rows, label_of(record))[record.peer] = mark(record);
    }
    write_table(suite, {"case", "holder"}, rows);
  }

  void write_figures(const std::string& suite) {
    Rows rows;
    for (const Record& record : records_) {
      if (record.suite != suite) continue;
      for (const auto& [what, value] : record.figures) row(rows, label_of(record) + " | " + what)[record.peer] = value;
    }
    if (rows.empty()) return;
    out_ << "\n### " << as_sentence(suite) << "\n\n";
    write_table(suite, {"case", "holder", "figure"}, rows);
  }

  static std::string label_of(const Record& record) { return as_sentence(record.test) + " | " + holder(record.first); }

  void write_table(const std::string& suite, std::vector<std::string> head, const Rows& rows) {
    const auto columns = columns_of(suite);
    for (const auto& [peer, version] : columns) head.push_back(version);
    for (const std::string& name : head) out_ << "| " << name << ' ';
    out_ << "|\n";
    for (std::size_t i = 0; i < head.size(); ++i) out_ << "| --- ";
    out_ << "|\n";
    for (const auto& [label, cells] : rows) {
      out_ << "| " << label;
      for (const auto& [peer, version] : columns) {
        const auto cell = cells.find(peer);
        out_ << " | " << (cell == cells.end() ? "" : in_cell(cell->second));
      }
      out_ << " |\n";
    }
  }

  static std::vector<std::string> every_peer() {
    std::vector<std::string> peers = kRedissons;
    peers.insert(peers.end(), kFamily.begin(), kFamily.end());
    peers.insert(peers.end(), kSimplePeers.begin(), kSimplePeers.end());
    return peers;
  }

  /// The peers of a suite and their versions, in the order in which peer.hpp names them: those that have such a thing.
  std::vector<std::pair<std::string, std::string>> columns_of(const std::string& suite) const {
    std::vector<std::pair<std::string, std::string>> columns;
    for (const std::string& peer : every_peer()) {
      const auto found = std::ranges::find_if(
          records_, [&](const Record& it) { return it.suite == suite && it.peer == peer && it.verdict != "absent"; });
      if (found != records_.end()) columns.emplace_back(peer, found->version);
    }
    return columns;
  }

  bool has_column(const std::string& suite, const std::string& peer) const {
    const auto columns = columns_of(suite);
    return std::ranges::any_of(columns, [&](const auto& column) { return column.first == peer; });
  }

  std::string mark(const Record& record) {
    if (record.verdict == "passed") return "✅";
    const std::string sign = record.verdict == "absent" ? "➖" : record.verdict == "skipped" ? "⬜" : "❌";
    const std::string reason = record.reason.empty() ? "the test did not come to its end" : record.reason;
    const auto found = std::ranges::find(notes_, reason);
    if (found == notes_.end()) notes_.push_back(reason);
    const auto number = std::ranges::find(notes_, reason) - notes_.begin() + 1;
    return sign + " (" + std::to_string(number) + ")";
  }

  void write_notes() {
    if (notes_.empty()) return;
    out_ << "\n## Notes\n\n";
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      std::string text;
      for (const char c : notes_[i].substr(0, 400)) text += c == '\n' || c == '`' ? ' ' : c;
      out_ << i + 1 << ". `" << text << "`\n";
    }
  }

  std::vector<Record> records_;
  std::vector<std::string> notes_;
  std::ostringstream out_;
};

}  // namespace

std::string as_sentence(std::string_view camel_case) {
  std::string sentence, word;
  const auto add_word = [&] {
    if (!sentence.empty() && !kNames.contains(word)) word[0] = static_cast<char>(std::tolower(word[0]));
    sentence += (sentence.empty() ? "" : " ") + word;
  };
  for (const char c : camel_case) {
    if (std::isupper(static_cast<unsigned char>(c)) && !word.empty()) {
      add_word();
      word.clear();
    }
    word += c;
  }
  if (!word.empty()) add_word();
  return sentence;
}

std::string interop_introduction() { return text_of_source("tests/interop/interop.md.in"); }

std::string interop_page(std::vector<Record> records, const std::string& date) {
  return Page(std::move(records), date).text();
}

}  // namespace holdfast::test
