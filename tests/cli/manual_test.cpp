// Manual pages and completions: they know every option that the tool has, and no other, and the real programs read
// them.
#include <algorithm>
#include <functional>
#include <set>

#include "cli_fixture.hpp"
#include "support/paths.hpp"

namespace holdfast::test::manual_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

const std::vector<std::string> kVerbs{"run",     "elect", "acquire", "renew",  "release",  "ls",
                                      "inspect", "wait",  "break",   "doctor", "exporter", "top"};
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

class Manual : public CliTest {
 protected:
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
    for (const std::string& verb : kVerbs) {
      Options long_ones = options_of(verb);
      std::erase_if(long_ones, [](const std::string& option) { return !option.starts_with("--"); });
      const std::vector<std::string> found = offers(verb + " --");
      EXPECT_EQ(Options(found.begin(), found.end()), long_ones) << verb;
    }
    std::vector<std::string> verbs = offers("");
    for (std::string& verb : verbs) verb = verb.substr(0, verb.find(':'));
    EXPECT_THAT(verbs, IsSupersetOf(kVerbs));
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
  for (const std::string& verb : kVerbs) {
    for (const std::string& option : options_of(verb)) {
      EXPECT_THAT(use({verb, option, "--frob"}).err, testing::Not(HasSubstr("unknown option " + option))) << verb;
    }
  }
}

TEST_F(Manual, EveryPageHasTheOptionsOfItsVerbAndNoOthers) {
  EXPECT_EQ(minus(options_in_page("holdfast.1"), {"--version"}), common());
  for (const std::string& verb : kVerbs) {
    // The server may be said of a verb as well.
    EXPECT_EQ(options_in_page("holdfast-" + verb + ".1"), minus(options_of(verb), common())) << verb;
  }
}

TEST_F(Manual, EveryPageIsReadWithoutAWarning) {
  if (!installed("man") || !installed("groff")) GTEST_SKIP() << "no man";
  for (const std::string& name :
       {std::string("holdfast"), std::string("holdfast-run"), std::string("holdfast-elect"),
        std::string("holdfast-acquire"), std::string("holdfast-renew"), std::string("holdfast-release"),
        std::string("holdfast-ls"), std::string("holdfast-inspect"), std::string("holdfast-wait"),
        std::string("holdfast-break"), std::string("holdfast-doctor"), std::string("holdfast-exporter"),
        std::string("holdfast-top")}) {
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
