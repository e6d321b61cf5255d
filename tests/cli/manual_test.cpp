// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions: they know every option that the tool has, and no other, and the real programs read
// them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>

#include "cli_fixture.hpp"
#include "support/paths.hpp"

namespace holdfast::test::manual_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

const std::string kManual = source_path("docs/man/");
const std::string kCompletions = source_path("completions/");

using Options = std::set<std::string>;

Options minus(const Options& all, const Options& some) {
  Options rest;
  std::ranges::set_difference(all, some, std::inserter(rest, rest.end()));
  return rest;
}

/// The options at the beginnings of a help text's lines: `      --url URL`, `  -n, --nonblock`.
Options options_in_help(const std::string& help) {
  Options found;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word && word.starts_with('-');) {
      found.insert(word.substr(0, word.find(',')));
      if (!word.ends_with(',')) break;
    }
  }
  return found;
}

/// The options that a manual page explains: `.It Fl w , Fl -wait Ar duration`.
Options options_in_page(const std::string& name) {
  Options found;
  std::ifstream file(kManual + name);
  EXPECT_TRUE(file) << name;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(".It Fl ")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == "Fl" && words >> word) found.insert("-" + word);
    }
  }
  return found;
}

/// The files of a folder that say the word.
std::set<std::string> files_with(const std::string& folder, const std::string& word) {
  std::set<std::string> found;
  const std::regex whole("\\b" + word + "\\b");
  for (const auto& file : std::filesystem::recursive_directory_iterator(source_path(folder))) {
    if (!file.is_regular_file()) continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (std::regex_search(text, whole)) {
      found.insert(folder + "/" + std::filesystem::relative(file.path(), source_path(folder)).string());
    }
  }
  return found;
}

class Manual : public CliTest {
 protected:
  /// As the tool lists them for completions.
  std::vector<std::string> verbs() const {
    std::vector<std::string> names;
    std::istringstream lines(use({"help", "--verbs"}).out);
    for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(':')));
    EXPECT_THAT(names, IsSupersetOf({"run", "elect", "top"}));
    return names;
  }
  Options options_of(const std::string& verb) const { return options_in_help(use({verb, "--help"}).out); }
  /// Those of every verb.
  Options common() const { return options_in_help(use({"--help"}).out); }

  /// What a script of this shell prints, with the tool in its path. Errors fail the test.
  std::vector<std::string> lines_of(const std::string& shell, const std::string& script) {
    const std::string file = folder_.file("script");
    std::ofstream(file) << script;
    Process process = start_shell("PATH=\"${tool%/*}:$PATH\" exec " + shell + " '" + file + "'");
    process.close_stdin();
    const Outcome outcome = finish(process);
    EXPECT_EQ(outcome.status, exited(0)) << script;
    EXPECT_THAT(outcome.err, IsEmpty()) << script;
    std::vector<std::string> lines;
    std::istringstream stream(outcome.out);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  /// What each shell offers at the end of this line.
  std::vector<std::string> offered_by_bash(const std::string& line) {
    return lines_of("bash --norc", ". " + kCompletions + "holdfast.bash\nCOMP_LINE='" + line +
                                       "'\nCOMP_POINT=" + std::to_string(line.size()) +
                                       "\nCOMP_WORDS=($COMP_LINE)\n_holdfast\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  }
  std::vector<std::string> offered_by_fish(const std::string& line) {
    std::vector<std::string> lines =
        lines_of("fish --no-config", "source " + kCompletions + "holdfast.fish\ncomplete -C '" + line + "'\n");
    for (std::string& each : lines) each = each.substr(0, each.find('\t'));
    return lines;
  }
  /// Without a line editor there is nobody to whom zsh could offer anything, so what would is replaced.
  std::vector<std::string> offered_by_zsh(const std::string& line) {
    const std::string current = line.substr(line.rfind(' ') + 1);
    std::vector<std::string> lines =
        lines_of("zsh -f",
                 "compset() { return 1 }\n_files() { print FILES }\n_normal() { print COMMAND $words }\n"
                 "_describe() { local all=(${(P)@[-1]}); print -rl -- ${(M)all:#$PREFIX*} }\n"
                 "compadd() { [[ $1 == -- ]] && shift; print -rl -- ${(M)@:#$PREFIX*} }\n"
                 "words=(" +
                     line + (current.empty() ? " ''" : "") + ")\nCURRENT=$#words\nPREFIX='" + current + "'\n. " +
                     kCompletions + "_holdfast\n");
    for (std::string& each : lines) {
      if (each.starts_with('-')) each = each.substr(0, each.find(':'));
    }
    return lines;
  }

  /// What every shell must know.
  void expect_complete(const std::function<std::vector<std::string>(const std::string&)>& offered) {
    const auto offers = [&](const std::string& line) { return offered("holdfast " + line); };
    for (const std::string& verb : verbs()) {
      Options long_ones = options_of(verb);
      std::erase_if(long_ones, [](const std::string& option) { return !option.starts_with("--"); });
      const std::vector<std::string> found = offers(verb + " --");
      EXPECT_EQ(Options(found.begin(), found.end()), long_ones) << verb;
    }
    std::vector<std::string> first = offers("");
    for (std::string& verb : first) verb = verb.substr(0, verb.find(':'));
    EXPECT_THAT(first, IsSupersetOf(verbs()));
    EXPECT_THAT(first, testing::Contains("help"));
    EXPECT_THAT(offers("wait --kind "), IsSupersetOf({"lock", "simple"}));
    EXPECT_THAT(offers("wait --kind "), testing::Contains("permit"));
    EXPECT_THAT(offers("run --kind "), testing::Not(testing::Contains("permit")));
    EXPECT_THAT(offers("ls --kind "), IsSupersetOf({"read-write", "permit", "semaphore", "latch"}));
    EXPECT_THAT(offers("wait --kind "), testing::Not(testing::Contains("latch")));
    EXPECT_THAT(offers("run --on-lost "), IsSupersetOf({"term", "kill", "warn"}));
    EXPECT_THAT(offers("-q inspect nightly"), testing::ElementsAre("nightly-backup"));
    EXPECT_THAT(offers("run nothing"), testing::Each(IsEmpty()));
  }
};

TEST_F(Manual, EveryOptionOfTheHelpIsOne) {
  for (const std::string& verb : verbs()) {
    for (const std::string& option : options_of(verb)) {
      EXPECT_THAT(use({verb, option, "--frob"}).err, testing::Not(HasSubstr("unknown option " + option))) << verb;
    }
  }
}

/// The list in CONTRIBUTING.md of what a new verb touches, for one whose name is no other word. To that come its test
/// and docs/cli.md.
TEST_F(Manual, AVerbIsInTwoSourcesAndTwoPages) {
  EXPECT_EQ(minus(files_with("src/cli", "exporter(_verb)?"), {"src/cli/CMakeLists.txt"}),
            (Options{"src/cli/verbs.cpp", "src/cli/verbs/exporter.cpp"}));
  EXPECT_EQ(files_with("docs/man", "exporter"), (Options{"docs/man/holdfast.1", "docs/man/holdfast-exporter.1"}));
  EXPECT_EQ(files_with("completions", "exporter"), Options{});
}

TEST_F(Manual, EveryPageHasTheOptionsOfItsVerbAndNoOthers) {
  EXPECT_EQ(minus(options_in_page("holdfast.1"), {"--version"}), common());
  for (const std::string& verb : verbs()) {
    // The server may be said of a verb as well.
    EXPECT_EQ(options_in_page("holdfast-" + verb + ".1"), minus(options_of(verb), common())) << verb;
  }
}

TEST_F(Manual, EveryPageIsReadWithoutAWarning) {
  if (!installed("man") || !installed("groff")) GTEST_SKIP() << "no man";
  std::vector<std::string> names{"holdfast"};
  for (const std::string& verb : verbs()) names.push_back("holdfast-" + verb);
  for (const std::string& name : names) {
    Process process = start_shell("MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l '" + kManual + name + ".1' | col -b");
    const Outcome outcome = finish(process);
    EXPECT_THAT(outcome.err, IsEmpty()) << name;
    EXPECT_THAT(outcome.out, HasSubstr("EXIT STATUS")) << name;
  }
}

TEST_F(Manual, BashCompletesEverything) {
  hold("nightly-backup");
  expect_complete([this](const std::string& line) { return offered_by_bash(line); });
  hold("orders:42");
  EXPECT_THAT(offered_by_bash("holdfast inspect orders:"), testing::ElementsAre("42"))
      << "readline takes what stands before a colon for another word";
  EXPECT_THAT(offered_by_bash("holdfast run --kind=si"), testing::ElementsAre("simple"));
  EXPECT_THAT(offered_by_bash("holdfast run job -- printen"), testing::Contains("printenv"));
}

TEST_F(Manual, ZshCompletesEverything) {
  if (!installed("zsh")) GTEST_SKIP() << "no zsh";
  hold("nightly-backup");
  expect_complete([this](const std::string& line) { return offered_by_zsh(line); });
  EXPECT_THAT(offered_by_zsh("holdfast run job -- printen"), testing::ElementsAre("COMMAND printen"));
}

TEST_F(Manual, FishCompletesEverything) {
  if (!installed("fish")) GTEST_SKIP() << "no fish";
  hold("nightly-backup");
  expect_complete([this](const std::string& line) { return offered_by_fish(line); });
  EXPECT_THAT(offered_by_fish("holdfast run job -- printen"), testing::Contains("printenv"));
}

TEST_F(Manual, CompletionAsksNoServerForLong) {
  hold("nightly-backup");
  url_ += "?connect_timeout=5m&command_timeout=5m";
  server_.freeze();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(offered_by_bash("holdfast inspect nightly"), testing::Each(IsEmpty()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  server_.thaw();
}

}  // namespace
}  // namespace holdfast::test::manual_test
