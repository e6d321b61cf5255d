// SPDX-License-Identifier: Apache-2.0
// What comes from a server or from another user is shown so that a terminal only shows it, and never with the password.
#include <filesystem>
#include <regex>
#include <set>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli_fixture.hpp"
#include "log_daemon.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::shown_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The bytes of a text that a terminal would act on or cannot show; newlines are fine.
std::string unsafe_in(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const std::size_t unseen = text.front() == '\n' ? 0 : base::unseen_length(text);
    if (length == 0 || unseen != 0) found += base::quote(text.substr(0, std::max<std::size_t>(length, 1)));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return found;
}

/// A sequence of C1 as a byte and as UTF-8, an escape, what is not drawn, what looks like a space, what changes the
/// direction, line ends.
const std::vector<std::string> kHostile{
    "a\x9b"
    "31mred",
    "a\xc2\x9b"
    "31mred",
    "a\x1b[2Jb",
    "pay\xc2\xadments",
    "pay\xe2\x80\x8bments",
    "tag\xf3\xa0\x81\x81\xf3\xa0\x81\xbf",
    "fill\xe3\x85\xa4",
    "a\xe2\x80\xae"
    "b",
    "a\xc2\xa0"
    "b",
    "a\nb\rc\td",
    "a\x7f\xff\xfe",
};

class Shown : public CliTest {};

TEST_F(Shown, NamesAndHoldersByEveryVerb) {
  for (const std::string& name : kHostile) {
    raw_.command("FLUSHALL");
    hold(name);
    const std::string odd = "odd" + name;
    hold(odd, 3'600'000, kSomebody + name);
    raw_.command("SET", "simple" + name, name, "PX", 3'600'000);
    for (const std::vector<std::string>& line :
         std::vector<std::vector<std::string>>{{"ls"},
                                               {"ls", "-q"},
                                               {"ls", "--json"},
                                               {"ls", "--kind", "simple"},
                                               {"inspect", name},
                                               {"inspect", "--json", name},
                                               {"inspect", odd},
                                               {"inspect", "--json", odd},
                                               {"run", "-w", "1100ms", odd, "--", "true"},
                                               {"inspect", "--kind", "simple", "simple" + name},
                                               {"inspect", "--kind", "semaphore", name},
                                               {"run", "-n", name, "--", "true"},
                                               {"run", "-n", "--json", name, "--", "true"},
                                               {"run", "-w", "1100ms", name, "--", "true"},
                                               {"acquire", "-n", name},
                                               {"wait", "-n", "-v", name},
                                               {"doctor", "-v"},
                                               {"doctor", "--try", name},
                                               {"doctor", "--json"},
                                               {"break", "-y", "--kind", "simple", "simple" + name},
                                               {"break", "-y", name}}) {
      const Outcome outcome = use(line);
      EXPECT_THAT(unsafe_in(outcome.out), IsEmpty()) << line.front() << outcome.out;
      EXPECT_THAT(unsafe_in(outcome.err), IsEmpty()) << line.front() << outcome.err;
    }
  }
}

TEST_F(Shown, NamesAndHoldersByTop) {
  for (const std::string& name : kHostile) hold(name);
  for (const bool json : {false, true}) {
    Process top = json ? start({"top", "--json", "--interval", "100ms"}) : start({"top", "--interval", "100ms"});
    EXPECT_TRUE(eventually([&] { return top.output().find("pay") != std::string::npos; })) << top.errors();
    EXPECT_THAT(unsafe_in(top.output()), IsEmpty());
  }
}

TEST_F(Shown, NamesAndHoldersByWatch) {
  for (const std::string& name : kHostile) hold(name);
  for (const bool json : {false, true}) {
    Process watch = json ? start({"watch", "--json"}) : start({"watch"});
    EXPECT_TRUE(eventually([&] { return watch.output().find("pay") != std::string::npos; })) << watch.errors();
    EXPECT_THAT(unsafe_in(watch.output()), IsEmpty());
  }
}

TEST_F(Shown, WhatAServerSays) {
  for (const std::string& says : kHostile) {
    const std::string line = says.substr(0, says.find_first_of("\r\n"));
    for (const std::string& reply : {"-ERR " + line + "\r\n", "-" + line + "\r\n", line + "\r\n", "+" + line + "\r\n",
                                     "!" + std::to_string(says.size()) + "\r\n" + says + "\r\n"}) {
      const Stranger server(reply, Stranger::Manner::hangs_up);
      for (const std::vector<std::string>& verb :
           std::vector<std::vector<std::string>>{{"ls"},
                                                 {"inspect", "job"},
                                                 {"run", "-n", "--json", "job", "--", "true"},
                                                 {"doctor"},
                                                 {"ls", "--json"}}) {
        const Outcome outcome = use(verb, {"HOLDFAST_URL=" + server.url() + "?patience=10ms"});
        EXPECT_THAT(unsafe_in(outcome.out), IsEmpty()) << verb.front() << outcome.out;
        EXPECT_THAT(unsafe_in(outcome.err), IsEmpty()) << verb.front() << outcome.err;
      }
    }
  }
}

TEST_F(Shown, InvisibleCharactersAsEscapes) {
  hold("pay\xc2\xadments");
  EXPECT_THAT(use({"ls"}).out, HasSubstr(R"("pay\xc2\xadments")"));
  const std::string json = use({"ls", "--json"}).out;
  EXPECT_THAT(json, HasSubstr(R"("pay\u00adments")"));
  EXPECT_EQ(boost::json::parse(json).at(0).at("name").as_string(), "pay\xc2\xadments");
  hold("\xf3\xa0\x81\x81");
  EXPECT_EQ(boost::json::parse(use({"inspect", "--json", "\xf3\xa0\x81\x81"}).out).at("name").as_string(),
            "\xf3\xa0\x81\x81");
}

TEST_F(Shown, OnlyByWayOfTheOnePlace) {
  // Writing of files, pipes and control sequences, which is none of it.
  const std::set<std::string> exempt{"console.cpp:write_all", "console.hpp:write_all", "top.cpp:write_all",
                                     "report.cpp:write_all", "console.cpp:write_to_syslog"};
  const std::regex writes(
      R"(\b(write_all|write_to_syslog|v?[fds]?n?printf|print|println|f?puts|f?putc|putchar|perror|fwrite|writev|)"
      R"(syslog|psignal)\s*\(|\b(cout|cerr|clog)\b|\bwrite\((STD|[12]\b))");
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(source_path("src/cli"))) {
    ++files;
    std::ifstream stream(file.path());
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      line = line.substr(0, line.find("//"));
      std::smatch found;
      if (line.starts_with("#include") || !std::regex_search(line, found, writes)) continue;
      const std::string place = file.path().filename().string();
      std::string word = found[1];
      EXPECT_TRUE(exempt.contains(place + ":" + word))
          << place << ":" << number << ": " << line << ": only show() may write what somebody sees";
    }
  }
  EXPECT_GT(files, 40);
}

const std::string kPassword = "s3cret-\"token\"";

class SaidBack : public CliTest {
 protected:
  const std::string place_ = folder_.file("log");
  const LogDaemon daemon_{place_};

  void expect_hidden(const Outcome& outcome) {
    EXPECT_NE(outcome.status, exited(0));
    std::string said;
    for (std::string line = daemon_.take(); !line.empty(); line = daemon_.take()) said += line;
    for (const std::string& text : {outcome.out, outcome.err, said}) {
      EXPECT_THAT(text, Not(HasSubstr("s3c")));
      EXPECT_THAT(text, Not(HasSubstr("token")));
    }
    EXPECT_THAT(outcome.out + outcome.err + said, Not(IsEmpty()));
  }
};

TEST_F(SaidBack, APasswordIsReplacedInWhateverIsShown) {
  const std::string file = folder_.file("password");
  std::ofstream(file) << kPassword;
  const std::string length = std::to_string(kPassword.size());
  for (const std::string& reply :
       {"-ERR invalid password '" + kPassword + "'\r\n", "-WRONGPASS " + kPassword + " " + kPassword + "\r\n",
        "-" + kPassword + "\r\n", "-NOPERM x\r\n-ERR " + kPassword + "\r\n", "HTTP/1.1 400 " + kPassword + "\r\n",
        kPassword, std::string(50, '?') + kPassword + "\r\n", std::string(50, '?') + kPassword.substr(0, 8),
        "$5\r\n" + kPassword + "\r\n", ":" + kPassword + "\r\n", "*" + kPassword + "\r\n", "+" + kPassword + "\r\n",
        "%1\r\n$4\r\nrole\r\n$" + length + "\r\n" + kPassword + "\r\n-ERR " + kPassword + "\r\n-ERR " + kPassword +
            "\r\n",
        "-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' '" + kPassword + "'\r\n"}) {
    const Stranger server(reply, Stranger::Manner::hangs_up);
    // With a second address, it must also say what it is.
    for (const std::string& url : {server.url(), server.url() + ",127.0.0.1:1"}) {
      const std::vector<std::string> env{"HOLDFAST_URL=" + url + "?patience=10ms", "HOLDFAST_SYSLOG=" + place_,
                                         "HOLDFAST_PASSWORD=" + kPassword};
      expect_hidden(use({"ls"}, env));
      expect_hidden(use({"ls", "--json"}, env));
      expect_hidden(use({"run", "-n", "--json", "job", "--", "true"}, env));
      expect_hidden(use({"inspect", "--syslog", "job"}, env));
      expect_hidden(use({"doctor", "--password-file", file}, {env[0]}));
    }
  }
}

TEST_F(SaidBack, WhatTheErrorMeansIsNotChanged) {
  // A password that is a word of the server's.
  const Stranger server("-NOPERM this user has no permissions\r\n", Stranger::Manner::hangs_up);
  const Outcome outcome = use({"ls", "--json"}, {"HOLDFAST_URL=" + server.url(), "HOLDFAST_PASSWORD=NOPERM"});
  EXPECT_EQ(boost::json::parse(outcome.out).at("error").at("code").as_string(), "denied");
}

}  // namespace
}  // namespace holdfast::test::shown_test
