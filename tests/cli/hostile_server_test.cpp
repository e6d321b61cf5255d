// SPDX-License-Identifier: Apache-2.0
// A server that answers with as much as it may: what the doctor and the exporter take for it has a bound.
#include "support/hostile_server.hpp"

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/number.hpp"

namespace holdfast::test::hostile_server_test {
namespace {

using namespace std::chrono_literals;
using Bytes = HostileServer::Bytes;

constexpr std::size_t kMega = 1U << 20U;
/// Just within what a client reads as one reply.
constexpr std::size_t kLong = 63 * kMega;

Bytes bulk(const std::string& text) {
  return std::make_shared<std::string>("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
}
std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}
/// Lines `123:x`, each with a name of its own: many small fields.
Bytes lines() {
  std::string all;
  for (std::size_t i = 0; all.size() < kLong; ++i) all += std::to_string(i) + ":x\n";
  return bulk(all);
}
Bytes elements(const std::string& each) {
  constexpr std::size_t kElements = 1'000'000;
  return std::make_shared<std::string>("*" + std::to_string(kElements) + "\r\n" + repeated(each, kElements));
}
Bytes long_error() { return std::make_shared<std::string>("-ERR " + std::string(kLong, 'x') + "\r\n"); }

struct Manner {
  const char* name;
  Bytes (*answer)();
};
void PrintTo(const Manner& manner, std::ostream* out) { *out << manner.name; }

const Manner kManners[] = {
    {"ManyLines", lines},
    {"OneText", [] { return bulk(std::string(kLong, 'x')); }},
    {"ManyNumbers", [] { return elements(":1\r\n"); }},
    {"ManyTexts", [] { return elements("$30\r\n" + std::string(30, 'x') + "\r\n"); }},
    {"LongErrors", long_error},
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsMeasured = false;  // the tool takes several times as much then
#else
constexpr bool kMemoryIsMeasured = true;
#endif

/// The most memory that a process has had so far.
std::size_t peak_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10U;
  }
  return 0;
}

class HostileTo : public testing::TestWithParam<Manner> {
 protected:
  ProcessOptions environment() const {
    return {
        .env = {"HOLDFAST_URL=" + server_.url(), "HOLDFAST_URL_FILE", "HOLDFAST_PASSWORD", "HOLDFAST_PASSWORD_FILE"}};
  }

  const Bytes answer_ = GetParam().answer();
  const HostileServer server_{[this](const HostileServer::Command&) { return answer_; }};
};

TEST_P(HostileTo, TheDoctorTakesABoundedAmountOfMemory) {
  if (!kMemoryIsMeasured) GTEST_SKIP() << "memory is not measured under a sanitizer";
  // It may be over before anybody looks: who waits for it is told, here a small process, since what this one has
  // counts.
  Process doctor("/usr/bin/env",
                 {"python3", "-c",
                  "import resource, subprocess, sys\n"
                  "subprocess.run(sys.argv[1:], stdout=sys.stderr)\n"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                  tool_path(), "doctor"},
                 environment());
  ASSERT_EQ(doctor.finish(), ExitStatus{}) << doctor.errors();
  const std::size_t peak = number_in<std::size_t>(doctor.read_line().value_or("")) << 10U;
  EXPECT_GT(peak, kMega);
  EXPECT_LT(peak, 100 * kMega) << "while it took so little of each answer";
}

TEST_P(HostileTo, TheExporterTakesABoundedAmountOfMemory) {
  if (!kMemoryIsMeasured) GTEST_SKIP() << "memory is not measured under a sanitizer";
  Process exporter(tool_path(), {"exporter", "--json", "--listen", ":0", "--interval", "100ms", "--doctor", "100ms"},
                   environment());
  ASSERT_TRUE(exporter.read_line());
  const auto end = std::chrono::steady_clock::now() + 3s;
  std::size_t peak = 0;
  while (std::chrono::steady_clock::now() < end && exporter.running()) {
    peak = std::max(peak, peak_of(exporter.pid()));
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(exporter.running()) << exporter.errors();
  EXPECT_LT(peak, 500 * kMega);
}

std::string name_of(const testing::TestParamInfo<Manner>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(AServerOf, HostileTo, testing::ValuesIn(kManners), name_of);

/// A list of names without an end, all of them of locks that are held.
TEST(AListWithoutAnEnd, IsNotKept) {
  constexpr std::size_t kPage = 500;
  std::string page = "*2\r\n$1\r\n7\r\n*" + std::to_string(kPage) + "\r\n" +
                     repeated("$1000\r\n" + std::string(1000, 'n') + "\r\n", kPage);
  const Bytes scanned = std::make_shared<std::string>(std::move(page));
  const Bytes one = std::make_shared<std::string>(":1\r\n");
  const Bytes holder = std::make_shared<std::string>("%1\r\n$38\r\n" + kSomebody + "\r\n$1\r\n1\r\n");
  const Bytes nobody = std::make_shared<std::string>("*0\r\n");
  const HostileServer server([&](const HostileServer::Command& command) {
    if (command.front() == "SCAN") return scanned;
    if (command.front() == "HGETALL") return holder;
    return command.front() == "PUBSUB" ? nobody : one;
  });
  Process ls(tool_path(), {"ls", "--kind", "lock", "--url", server.url()}, {.env = {"HOLDFAST_URL"}});
  std::size_t peak = 0;
  const bool ended = eventually(
      [&] {
        peak = std::max(peak, peak_of(ls.pid()));
        return !ls.running();
      },
      std::chrono::minutes(3));  // it takes in some hundred megabytes first
  EXPECT_TRUE(ended);
  EXPECT_TRUE(!kMemoryIsMeasured || peak < 500 * kMega) << peak;
  EXPECT_THAT(ls.errors(), testing::HasSubstr("the list would take more than"));
}

}  // namespace
}  // namespace holdfast::test::hostile_server_test
