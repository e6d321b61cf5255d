// SPDX-License-Identifier: Apache-2.0
// The programs of docs/interop.md are run as they stand there: each of another language beside the one in C++.
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "peer.hpp"
#include "support/listen.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"
#include "table.hpp"

namespace holdfast::test::page_test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(source_path(file));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What stands between ```LANGUAGE and ```.
std::string program_on_page(const std::string& language) {
  const std::string page = text_of("docs/interop.md"), fence = "```" + language + "\n";
  const std::size_t at = page.find(fence);
  if (at == page.npos) throw std::runtime_error("no program in " + language);
  return page.substr(at + fence.size(), page.find("```\n", at + fence.size()) - at - fence.size());
}

/// A server, and the programs of the page, which find it where the page says 127.0.0.1:6379.
class InteropPage : public ::testing::Test {
 protected:
  /// Skips, or fails where it must run: `if (absent(peer)) return;`
  static bool absent(const Peer& peer) {
    const std::string why_not = peer.why_not();
    if (why_not.empty()) return false;
    [&] {
      if (Peer::required()) FAIL() << why_not;
      GTEST_SKIP() << why_not;
    }();
    return true;
  }
  std::string copied(const std::string& language, const std::string& name) const {
    const std::string theirs = "127.0.0.1:6379";
    std::string program = program_on_page(language);
    const std::size_t at = program.find(theirs);
    if (at == program.npos) throw std::runtime_error("the program in " + language + " names no server");
    program.replace(at, theirs.size(), "127.0.0.1:" + std::to_string(server_.port()));
    const std::string file = folder_.file(name);
    std::ofstream(file) << program;
    return file;
  }
  Process java() const {
    const std::string redisson = Peer("redisson-3").program();
    const std::string jars = redisson.substr(0, redisson.rfind('/')) + "/lib/*";
    return {"java", {"-XX:TieredStopAtLevel=1", "-cp", jars, copied("java", "Orders.java")}};
  }
  Process python() const {
    const std::string redis_py = Peer("redis-py").program();
    return {redis_py.substr(0, redis_py.rfind('/')) + "/venv/bin/python", {copied("python", "reports.py")}};
  }
  Process cpp() const { return {build_path("examples/08_shared"), {}, {.env = {"HOLDFAST_URL=" + server_.url()}}}; }
  /// It has its lock, and so says its line.
  static void expect_inside(Process& program, const std::string& line) {
    EXPECT_EQ(program.read_line(kStart), line) << program.errors();
  }
  static void expect_end_after_enter(Process& program) {
    program.write_line("");
    EXPECT_EQ(program.finish(kStart), ExitStatus{}) << program.errors();
  }
  /// `waits` becomes true when the second has found the lock taken.
  template <class Waits>
  static void expect_turns(Process first, const std::string& line, Process second, const std::string& next_line,
                           Waits waits) {
    EXPECT_TRUE(eventually(waits, kStart)) << second.errors();
    EXPECT_EQ(second.output(), "");
    EXPECT_EQ(first.output(), line + "\n");
    expect_end_after_enter(first);
    expect_inside(second, next_line);
    expect_end_after_enter(second);
  }
  bool listened_to(const std::string& channel) {
    const Reply reply = raw_.command("PUBSUB", "NUMSUB", channel);
    return reply.elements.size() == 2 && reply.elements[1].integer > 0;
  }

  /// Java compiles the program first, on a busy machine.
  static constexpr std::chrono::seconds kStart{120};
  static constexpr const char* kCpp = "C++ has both; Enter gives them back";
  static constexpr const char* kJava = "Java has it; Enter gives it back";
  static constexpr const char* kPython = "Python has it; Enter gives it back";

  RedisServer server_{{.listen = ServerOptions::Listen::tcp}};
  Raw raw_{server_};
  TempDir folder_;
};

TEST_F(InteropPage, TheProgramInCppIsTheExample) {
  EXPECT_EQ("// SPDX-License-Identifier: Apache-2.0\n" + program_on_page("cpp"), text_of("examples/08_shared.cpp"));
}

TEST_F(InteropPage, TheTablesBeginWithWhatTheGeneratorPutsThere) {
  EXPECT_TRUE(text_of("docs/records/interop.md").starts_with(interop_introduction() + "Run on "));
}

TEST_F(InteropPage, TheProgramInJavaSharesItsLockWithTheOneInCpp) {
  if (absent(Peer("redisson-3"))) return;
  const auto waits = [this] { return listened_to("redisson_lock__channel:{orders:42}"); };
  Process cpp_first = cpp();
  expect_inside(cpp_first, kCpp);
  expect_turns(std::move(cpp_first), kCpp, java(), kJava, waits);
  Process java_first = java();
  expect_inside(java_first, kJava);
  expect_turns(std::move(java_first), kJava, cpp(), kCpp, waits);
}

TEST_F(InteropPage, TheProgramInPythonSharesItsLockWithTheOneInCpp) {
  if (absent(Peer("redis-py"))) return;
  Process cpp_first = cpp();
  expect_inside(cpp_first, kCpp);
  const auto takes = raw_.calls("set");
  // It asks again and again; the second time, the first was in vain.
  expect_turns(std::move(cpp_first), kCpp, python(), kPython, [&] { return raw_.calls("set") > takes + 1; });
  Process python_first = python();
  expect_inside(python_first, kPython);
  expect_turns(std::move(python_first), kPython, cpp(), kCpp,
               [this] { return listened_to("holdfast_simple_lock__channel:{reports:7}"); });
}

}  // namespace
}  // namespace holdfast::test::page_test
