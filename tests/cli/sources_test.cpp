// SPDX-License-Identifier: Apache-2.0
// Where the server and the password come from, and that no message repeats a password.
#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_fixture.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::sources_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Sources : public CliTest {};

TEST_F(Sources, TheUrlComesFromOptionFileOrEnvironmentInThisOrder) {
  const std::string wrong = "redis://127.0.0.1:1";
  const std::string file = folder_.file("url");
  std::ofstream(file) << url_ << "\n";
  const std::string wrong_file = folder_.file("wrong");
  std::ofstream(wrong_file) << wrong << "\n";
  EXPECT_EQ(use({"ls", "--url", url_, "--url-file", wrong_file}, {"HOLDFAST_URL=" + wrong}).status, exited(0));
  EXPECT_EQ(use({"ls", "--url-file", file}, {"HOLDFAST_URL=" + wrong}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL_FILE=" + wrong_file}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL", "HOLDFAST_URL_FILE=" + file}).status, exited(0));
}

TEST_F(Sources, TheServerOfLocalIsStartedAndLeftRunning) {
  const std::string runtime = "XDG_RUNTIME_DIR=" + folder_.path().string();
  EXPECT_EQ(use({"run", "job", "--", "true"}, {"HOLDFAST_URL=local:", runtime}).status, exited(0));
  Raw raw(Endpoint{.socket_path = folder_.file("holdfast/redis.sock")});
  EXPECT_GT(raw.calls("evalsha"), 0);
  const pid_t server = std::stoi(raw.info("server", "process_id"));
  kill(server, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !runs(server); }));
}

TEST_F(Sources, NoMessageRepeatsAPassword) {
  const std::string login = "redis://ann:s3cret@127.0.0.1:1";
  const std::string other = "https://ann:s3cret@example.org/x";
  const std::string odd = "redis://ann:s3 \"c'r/s3cret@h";
  hold(other);
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{{"ls", "--password=s3cret"},
                                             {"--password=s3cret", "ls"},
                                             {"--password", "s3cret", "ls"},
                                             {"--password", "s3cret"},
                                             {"ls", "-ps3cret"},
                                             {"-ps3cret", "ls"},
                                             {"ls", login},
                                             {"ls", "*", login},
                                             {"ls", "*", odd},
                                             {login, "ls"},
                                             {odd},
                                             {"help", login},
                                             {"help", "run", odd},
                                             {"inspect", login},
                                             {"inspect", "--", odd},
                                             {"inspect", "redis://:s3cret"},
                                             {"wait", "-n", login},
                                             {"break", "-y", login},
                                             {"run", login, "--", "true"},
                                             {"run", login, "true"},
                                             {"run", "job", login},
                                             {"run", "job", odd},
                                             {"run", "--", login, "true"},
                                             {"run", "-w", login, "job", "--", "true"},
                                             {"run", "-E", odd, "job", "--", "true"},
                                             {"run", "--kind", odd, "job", "--", "true"},
                                             {"run", "--on-lost", login, "job", "--", "true"},
                                             {"run", "--status-fd", login, "job", "--", "true"},
                                             {"ls", "--json=s3cret"},
                                             {"ls", "--url-file", login},
                                             {"ls", "--password-file", odd},
                                             {"ls", "--url", odd},
                                             {"ls", "--url", "redis://ann:s3cret@127.0.0.1:0"},
                                             {"run", "-n", other, "--", "true"},
                                             {"run", "--max-hold", "1d", "job", "--", other},
                                             {"wait", "-n", "-v", other}}) {
    const Outcome outcome = use(line);
    EXPECT_NE(outcome.status, exited(0));
    EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("s3cret"))) << testing::PrintToString(line);
    // In JSON a lock's name is data.
    if (std::ranges::find(line, other) != line.end()) continue;
    std::vector<std::string> in_json = line;
    in_json.insert(in_json.begin(), "--json");
    const Outcome value = use(in_json);
    EXPECT_THAT(value.err + value.out, Not(HasSubstr("s3cret"))) << testing::PrintToString(line);
  }
  EXPECT_THAT(use({"wait", "-n", other}).err, HasSubstr("lock \"https://***@example.org/x\""));
  EXPECT_THAT(use({"inspect", login}).err, HasSubstr("belongs after --url"));
}

TEST_F(Sources, AnEmptyUrlIsAMistakeAndNoReasonToTakeAnotherServer) {
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL="}).err, "holdfast: HOLDFAST_URL is set, but empty\n");
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL="}).status, exited(64));
  EXPECT_EQ(use({"run", "job", "--", "true"}, {"HOLDFAST_URL="}).status, exited(64));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL", "HOLDFAST_URL_FILE="}).err, "holdfast: HOLDFAST_URL_FILE is set, but empty\n");
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL= "}).status, exited(64));
  EXPECT_EQ(use({"ls", "--url", url_}, {"HOLDFAST_URL="}).status, exited(0));
}

TEST_F(Sources, TheSitesFileSaysWhichServerIsMeantIfNobodyElseDoes) {
  const std::vector<std::string> site{"HOLDFAST_URL", "HOLDFAST_ETC=" + folder_.path().string()};
  const std::string file = folder_.file("url");
  std::ofstream(file) << "\n# the locks of this site\n  " << url_ << " \nredis://127.0.0.1:1\n";
  const Outcome outcome = use({"-v", "ls"}, site);
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.err, "holdfast: the server is the one in " + file + "\n");
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL=redis://127.0.0.1:1", site[1]}).status, exited(69)) << "the environment first";
  std::ofstream(file) << "# none\n\n";
  EXPECT_EQ(use({"ls"}, site).err, "holdfast: there is no URL in " + file + "\n");
}

TEST_F(Sources, ALinkOfTheSitesThatLeadsToNothingIsAMistake) {
  const std::string file = folder_.file("url");
  ASSERT_EQ(symlink("/no/such/file", file.c_str()), 0);
  const Outcome outcome = use({"ls"}, {"HOLDFAST_URL", "HOLDFAST_ETC=" + folder_.path().string()});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.err, "holdfast: cannot read the URL from " + file + ": the link leads to nothing\n");
  const std::string link = folder_.file("etc");
  ASSERT_EQ(symlink("/no/such/folder", link.c_str()), 0);
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL", "HOLDFAST_ETC=" + link}).status, exited(64));
}

TEST_F(Sources, CommasBetweenUrlsAreRefused) {
  const std::string says =
      "holdfast: there are commas between URLs: separate several servers by a space, or repeat --url\n";
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL=redis://:s3cret@a:1,redis://b:2"}).err, says);
  EXPECT_EQ(use({"run", "--url", "rediss://a,unix:///b", "job", "--", "true"}).err, says);
  EXPECT_THAT(use({"ls"}, {"HOLDFAST_URL=redis://127.0.0.1:1,127.0.0.1:2"}).err, HasSubstr("Connection refused"));
}

TEST_F(Sources, AServerThatIsAssumedIsTold) {
  // Whether there is one does not matter.
  const std::vector<std::string> nothing{"HOLDFAST_URL", "HOLDFAST_ETC=" + folder_.path().string()};
  const std::string assumed = "holdfast: no server was given: redis://127.0.0.1:6379 is assumed";
  const Outcome told = use({"ls", "-v"}, nothing);
  EXPECT_THAT(told.err, StartsWith(assumed));
  // Where nothing listens that is said without being asked for.
  const bool listens = told.err.starts_with(assumed + "\n");
  EXPECT_EQ(use({"ls"}, nothing).err.starts_with(assumed + ", and nothing listens there; "), !listens);
  EXPECT_THAT(use({"ls", "-q"}, nothing).err, Not(HasSubstr("assumed")));
}

TEST_F(Sources, FilesThatHoldNoSecretAreNamed) {
  const auto says = [&](const std::string& file, const std::string& why) {
    for (const char* option : {"--password-file", "--url-file"}) {
      const Outcome outcome =
          use({"ls", option, file}, {"HOLDFAST_URL" + std::string(option[2] == 'u' ? "" : "=" + url_)});
      EXPECT_EQ(outcome.status, exited(64)) << file;
      EXPECT_THAT(outcome.err, HasSubstr(" from " + file + ": " + why));
    }
  };
  says(folder_.path().string(), "Is a directory");
  says("/dev/null", "it is empty");
  says("/dev/zero", "it is larger than 64 KiB");
  says("/no/such/file", "No such file or directory");
  const std::string file = folder_.file("secret");
  std::ofstream(file) << "\n";
  says(file, "it is empty");
  std::ofstream(file) << std::string("a\0b", 3);
  says(file, "there is a NUL in it");
  if (geteuid() != 0) {
    std::ofstream(file) << "secret";
    chmod(file.c_str(), 0);
    says(file, "Permission denied");
  }
}

TEST_F(Sources, AFileWithASecretThatEverybodyMayReadIsTold) {
  const std::string password = folder_.file("password");
  const std::string url = folder_.file("url");
  const std::string plain = folder_.file("plain");
  std::ofstream(password) << "s3cret";
  std::ofstream(url) << "redis://ann:s3cret@127.0.0.1:1";
  std::ofstream(plain) << "redis://127.0.0.1:1";
  const auto told = [&](const std::string& option, const std::string& file) {
    const std::string err = use({"ls", option, file}, {"HOLDFAST_URL"}).err;
    return err.find("every user of this machine may read the password in " + file + "; chmod o-r it") != err.npos;
  };
  for (const mode_t mode : {0644U, 0604U}) {
    for (const std::string& file : {password, url, plain}) ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_TRUE(told("--password-file", password));
    EXPECT_TRUE(told("--url-file", url));
    EXPECT_FALSE(told("--url-file", plain)) << "there is no secret in it";
    EXPECT_THAT(use({"ls"}, {"HOLDFAST_URL_FILE=" + url, "HOLDFAST_URL"}).err, HasSubstr("may read the password"));
    EXPECT_THAT(use({"ls"}, {"HOLDFAST_PASSWORD_FILE=" + password}).err, HasSubstr("may read the password"));
    EXPECT_THAT(use({"ls", "-q", "--password-file", password}).err, Not(HasSubstr("may read")));
  }
  for (const mode_t mode : {0600U, 0640U}) {
    for (const std::string& file : {password, url}) ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_FALSE(told("--password-file", password));
    EXPECT_FALSE(told("--url-file", url));
  }
}

TEST_F(Sources, AFileThatNamesTheServerAndThatOthersMayChangeIsTold) {
  const std::string file = folder_.file("url");
  std::ofstream(file) << url_;
  const std::vector<std::string> env{"HOLDFAST_URL", "HOLDFAST_ETC=" + folder_.path().string()};
  const auto tells = HasSubstr("another user than root and you may change " + file + ", which names the server");
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(use({"ls"}, env).err, testing::IsEmpty());
  ASSERT_EQ(chmod(file.c_str(), 0646), 0);
  EXPECT_THAT(use({"ls"}, env).err, tells);
  if (geteuid() != 0) return;
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(chown(file.c_str(), 12345, 0), 0);
  EXPECT_THAT(use({"ls"}, env).err, tells);
}

class PasswordSources : public CliTest {
 protected:
  PasswordSources() : CliTest({.listen = ServerOptions::Listen::tcp, .password = "open sesame"}) {}
};

TEST_F(PasswordSources, ThePasswordComesFromTheEnvironmentOrAFile) {
  const std::string file = folder_.file("password");
  std::ofstream(file) << "open sesame\n";
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_PASSWORD=open sesame"}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_PASSWORD_FILE=" + file}).status, exited(0));
  EXPECT_EQ(use({"ls", "--password-file", file}, {"HOLDFAST_PASSWORD=wrong"}).status, exited(0));
  std::ofstream(file) << "open sesame\r\n\n";
  EXPECT_EQ(use({"ls", "--password-file", file}).status, exited(0));
  Process piped = start_shell("echo open sesame | \"$tool\" ls --password-file /dev/stdin");
  EXPECT_EQ(finish(piped).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL=" + server_.url("", "open sesame"), "HOLDFAST_PASSWORD=wrong"}).status,
            exited(0));
}

TEST_F(PasswordSources, ThePasswordComesFromACommand) {
  const auto by = [&](const std::string& command) { return use({"ls", "--password-command", command}); };
  EXPECT_EQ(by("echo open sesame").status, exited(0));
  EXPECT_EQ(by("printf 'open sesame\\r\\n\\n'").status, exited(0));
  EXPECT_EQ(by("read line < /dev/null; echo \"open ${line}sesame\"").status, exited(0));
  const std::pair<std::string, std::string> bad[] = {
      {"echo open sesame; exit 1", "--password-command: the command failed"},
      {"echo open sesame; false", "--password-command: the command failed"},
      {"kill -9 $$", "--password-command: the command failed"},
      {"/no/such/vault open sesame", "--password-command: the command failed"},
      {"true", "--password-command: the command printed nothing"},
      {"head -c 100000 /dev/zero | tr '\\0' x", "prints too much"},
      {"printf 'open\\0sesame'", "there is a NUL in what the command printed"}};
  for (const auto& [command, words] : bad) {
    const Outcome outcome = by(command);
    EXPECT_EQ(outcome.status, exited(64)) << command;
    EXPECT_THAT(outcome.err, HasSubstr(words)) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("holdfast: open"))) << command;
  }
  EXPECT_THAT(use({"ls", "--password-command", "x", "--password-file", "y"}).err, HasSubstr("exclude each other"));
}

TEST_F(PasswordSources, ACommandThatDoesNotEndIsEndedWithAllThatItHasStarted) {
  const std::string file = folder_.file("pid");
  const Outcome outcome = use({"ls", "--url", url_ + "?connect_timeout=300ms", "--password-command",
                               "sleep 1000 & echo $! > " + file + "; wait"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("it has not ended within 300 ms"));
  std::ifstream written(file);
  pid_t started = 0;
  ASSERT_TRUE(written >> started);
  EXPECT_TRUE(eventually([&] { return !runs(started); }));
}

/// The password is changed, and the connections are cut, while a run, a leader and an exporter go on.
class PasswordsThatChange : public CliTest {
 protected:
  PasswordsThatChange() : CliTest({.listen = ServerOptions::Listen::tcp, .users = {"app on >first ~* &* +@all"}}) {}

  void SetUp() override {
    if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no CLIENT KILL USER";
    write("first");
  }
  void write(const std::string& password) const {
    std::ofstream(folder_.file("new")) << password << "\n";
    std::filesystem::permissions(folder_.file("new"), std::filesystem::perms::owner_read);
    std::filesystem::rename(folder_.file("new"), password_);
    std::ofstream(folder_.file("new")) << server_.url("app", password) << "\n";
    std::filesystem::permissions(folder_.file("new"), std::filesystem::perms::owner_read);
    std::filesystem::rename(folder_.file("new"), url_file_);
  }
  /// The old password is worth nothing at once; in every other turn the file is late.
  void change() {
    const std::string next = "pass-" + std::to_string(++turns_);
    if (turns_ % 2 == 0) write(next);
    ASSERT_FALSE(raw_.command("ACL", "SETUSER", "app", "resetpass", ">" + next).is_error());
    raw_.command("CLIENT", "KILL", "USER", "app");
    write(next);
  }
  /// How many clients; some have two connections.
  std::size_t logged_in() {
    std::istringstream clients(raw_.command("CLIENT", "LIST").text);
    std::set<std::string> names;
    for (std::string line; std::getline(clients, line);) {
      if (line.find(" user=app ") == line.npos) continue;
      const std::size_t name = line.find(" name=");
      names.insert(line.substr(name, line.find(' ', name + 1) - name));
    }
    names.erase(" name=");  // not logged in yet
    return names.size();
  }

  const std::string password_ = folder_.file("password");
  const std::string url_file_ = folder_.file("url.txt");
  int turns_ = 0;
};

TEST_F(PasswordsThatChange, LoseNoLockOfARunAndEndNoLeader) {
  const std::string plain = url_ + "?user=app&lease=20s";
  const std::string command = "cat " + password_;
  std::vector<Process> runs;
  const auto begin = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--", "sh", "-c", "echo started; read line; exit 7"});
    runs.push_back(start(std::move(args), {"HOLDFAST_URL"}));
    ASSERT_EQ(runs.back().read_line(), "started") << runs.back().errors();
  };
  begin({"run", "--url", plain, "--password-file", password_, "by-file"});
  begin({"run", "--url", plain, "--password-command", command, "by-command"});
  begin({"run", "--url-file", url_file_, "by-url"});
  begin({"elect", "--once", "--url", plain, "--password-file", password_, "leads"});
  const auto owners = [&] {
    std::vector<std::string> found;
    for (const char* name : {"by-file", "by-command", "by-url", "leads"}) found.push_back(owner_of(name));
    return found;
  };
  const std::vector<std::string> before = owners();
  EXPECT_THAT(before, testing::Each(Not(testing::IsEmpty())));
  for (int turn = 0; turn < 6; ++turn) {
    change();
    ASSERT_TRUE(eventually([&] { return logged_in() >= 4; })) << "turn " << turn;
    EXPECT_EQ(owners(), before);
  }
  for (Process& run : runs) {
    run.write_line("");
    const Outcome outcome = finish(run);
    EXPECT_EQ(outcome.status, exited(7)) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("pass-")));
  }
}

TEST_F(PasswordsThatChange, EndNoExporterAndNoTop) {
  for (std::vector<std::string> line : std::vector<std::vector<std::string>>{
           {"exporter", "--interval", "100ms", "--listen", "127.0.0.1:0"}, {"top", "-n", "100ms"}}) {
    const std::string verb = line.front();
    line.insert(line.end(), {"--json", "--url", url_ + "?user=app", "--password-file", password_});
    Process process = start(line, {"HOLDFAST_URL"});
    ASSERT_TRUE(process.read_line()) << process.errors();
    for (int turn = 0; turn < 6; ++turn) {
      change();
      const long long before = raw_.calls("scan");
      EXPECT_TRUE(eventually([&] { return raw_.calls("scan") >= before + 3; })) << verb << ", turn " << turn;
    }
    process.signal(SIGTERM);
    const Outcome outcome = finish(process);
    EXPECT_EQ(outcome.status, exited(0)) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("pass-")));
  }
}

TEST_F(PasswordSources, ALoginIsKeptFromTheCommandIfThatIsAskedFor) {
  const std::string print = "echo \"${HOLDFAST_PASSWORD-none} ${HOLDFAST_URL-none}\"";
  const std::string with_login = "HOLDFAST_URL=" + server_.url("", "open sesame");
  for (const std::string verb : {"run", "elect"}) {
    std::vector<std::string> line{verb, "job", "--", "sh", "-c", print};
    if (verb == "elect") line.insert(line.begin() + 1, "--once");
    EXPECT_EQ(use(line, {"HOLDFAST_PASSWORD=open sesame"}).out, "open sesame " + url_ + "\n") << verb;
    line.insert(line.begin() + 1, "--withhold-login");
    EXPECT_EQ(use(line, {"HOLDFAST_PASSWORD=open sesame"}).out, "none " + url_ + "\n") << verb;
    EXPECT_EQ(use(line, {with_login}).out, "none none\n") << verb;
  }
}

TEST_F(PasswordSources, APasswordOnTheCommandLineIsAdvisedAgainst) {
  const Outcome outcome = use({"ls", "--url", server_.url("", "open sesame")});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("can be seen by every user"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("sesame")));
}

}  // namespace
}  // namespace holdfast::test::sources_test
