// SPDX-License-Identifier: Apache-2.0
// `holdfast exporter`, asked over HTTP as Prometheus asks it.
#include <arpa/inet.h>
#include <cmath>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "cli_fixture.hpp"

namespace holdfast::test::exporter_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A connection to a port of this machine, over which anything may be sent.
class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& text) const { EXPECT_EQ(write(fd_, text.data(), text.size()), ssize_t(text.size())); }
  /// Everything until the other side closes.
  std::string read_all() const {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(fd_, buffer, sizeof buffer)) > 0;) all.append(buffer, std::size_t(got));
    return all;
  }
  /// What comes first.
  std::string read_some() const {
    char buffer[65536];
    const ssize_t got = read(fd_, buffer, sizeof buffer);
    return {buffer, std::size_t(std::max<ssize_t>(got, 0))};
  }

 private:
  const int fd_;
  bool connected_ = false;
};

class Exporter : public CliTest {
 protected:
  /// With looks that come soon.
  void begin(std::vector<std::string> args = {}) {
    args.insert(args.begin(), {"exporter", "--json", "--listen", "127.0.0.1:0", "--interval", "100ms"});
    process_.emplace(start(std::move(args)));
    const std::optional<std::string> line = process_->read_line();
    ASSERT_TRUE(line) << process_->errors();
    const auto url = boost::json::value_to<std::string>(boost::json::parse(*line).at("url"));
    ASSERT_THAT(url, AllOf(StartsWith("http://127.0.0.1:"), testing::EndsWith("/metrics")));
    port_ = std::atoi(url.c_str() + url.rfind(':') + 1);
  }
  std::string get(const std::string& path, const std::string& headers = {}) const {
    const Connection connection(port_);
    connection.send("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
    return connection.read_all();
  }
  /// The value of a metric of the only server; NaN if it is not told.
  double value(const std::string& name, const std::string& more = {}) const {
    const std::string text = get("/metrics");
    const std::string series = "\n" + name + "{node=\"" + server_.socket_path() + "\"" + more + "} ";
    const std::size_t at = text.find(series);
    return at == std::string::npos ? std::nan("") : std::strtod(text.c_str() + at + series.size(), nullptr);
  }
  bool becomes(const std::string& name, double wanted, const std::string& more = {}) const {
    return eventually([&] { return value(name, more) == wanted; });
  }

  std::optional<Process> process_;
  int port_ = 0;
};

TEST_F(Exporter, TellsWhatTheServerHas) {
  hold("orders", 60'000);
  hold("bills", 3'600'000);
  raw_.command("HSET", "for ever", kSomebody, 1);
  begin();
  ASSERT_TRUE(becomes("holdfast_server_locks", 3));
  EXPECT_EQ(value("holdfast_server_up"), 1);
  EXPECT_EQ(value("holdfast_server_locks_without_expiry"), 1);
  EXPECT_THAT(value("holdfast_server_lowest_ttl_seconds"), AllOf(testing::Gt(0), testing::Le(60)));
  EXPECT_EQ(value("holdfast_server_waiters"), 0);
  Process waiting = start({"run", "orders", "--", "true"});
  EXPECT_TRUE(becomes("holdfast_server_waiters", 1));
}

TEST_F(Exporter, CountsOnlyTheLocksOfThePattern) {
  hold("orders:1");
  hold("bills:1");
  begin({"orders:*"});
  EXPECT_TRUE(becomes("holdfast_server_locks", 1));
}

TEST_F(Exporter, CountsAndShowsOtherKindsIfItIsToldTo) {
  hold("orders");
  raw_.command("SET", "cache", "text", "PX", 600'000);
  raw_.command("SET", "token", kSomebody, "PX", 600'000);
  Process holder = start({"run", "--max", "3", "gpus", "--", "sh", "-c", "echo started; read line"});
  EXPECT_EQ(holder.read_line(), "started") << holder.errors();
  begin({"--kind", "all"});
  EXPECT_TRUE(becomes("holdfast_server_locks", 3));
  const std::string page = get("/");
  for (const char* row :
       {"<td>orders<td>lock<td", "<td>token<td>simple<td", "<td>gpus<td>permit<td", "<td>1 held, 2 free<"}) {
    EXPECT_THAT(page, HasSubstr(row));
  }
  holder.signal(SIGTERM);
  holder.finish();
}

TEST_F(Exporter, TellsWhatTheDoctorFinds) {
  raw_.command("HSET", "for ever", kSomebody, 1);
  begin();
  EXPECT_TRUE(eventually([&] {
    return std::isgreater(value("holdfast_server_findings", ",severity=\"warning\""), 0) &&
           get("/metrics").find("id=\"eternal_locks\"") != std::string::npos;
  }));
}

TEST_F(Exporter, ShowsTheLocksInABrowser) {
  const std::string hostile = "<script>alert(1)</script>\"&\x1b[31m";
  hold(hostile, 60'000);
  hold("orders", 60'000);
  begin();
  ASSERT_TRUE(becomes("holdfast_server_locks", 2));
  const std::string page = get("/");
  EXPECT_THAT(page,
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\nContent-Type: text/html; charset=utf-8\r\n"),
                    HasSubstr("<meta http-equiv=\"refresh\" content=\"2\">"), HasSubstr("2 held, 0 waiting"),
                    HasSubstr("<td>orders<td"), HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x1b")), Not(HasSubstr("http:")),
                          Not(HasSubstr("https:")), Not(HasSubstr("src="))));
  server_.stop();
  EXPECT_TRUE(eventually([&] { return get("/").find("cannot reach the server") != std::string::npos; }));
}

TEST_F(Exporter, ShowsThoseWithTheMostWaitersIfThereAreMany) {
  for (int i = 0; i < 600; ++i) hold("job:" + std::to_string(i));
  Process waiting = start({"run", "job:599", "--", "true"});
  begin();
  ASSERT_TRUE(becomes("holdfast_server_waiters", 1));
  EXPECT_EQ(value("holdfast_server_locks"), 600);
  const std::string page = get("/");
  EXPECT_THAT(page, AllOf(HasSubstr("600 held, 1 waiting; the 500 with the most waiters are shown"),
                          HasSubstr("<td>job:599<td")));
}

TEST_F(Exporter, IsHealthyThoughTheServerIsNot) {
  begin();
  ASSERT_TRUE(becomes("holdfast_server_up", 1));
  server_.stop();
  ASSERT_TRUE(becomes("holdfast_server_up", 0));
  EXPECT_THAT(get("/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), testing::EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(get("/metrics"), HasSubstr("\nholdfast_build_info{version=\""));
}

TEST_F(Exporter, AnswersWithUpZeroWhileTheServerIsDown) {
  hold("orders");
  begin({"--doctor", "0"});
  ASSERT_TRUE(becomes("holdfast_server_up", 1));
  server_.stop();
  ASSERT_TRUE(becomes("holdfast_server_up", 0));
  EXPECT_TRUE(std::isnan(value("holdfast_server_locks")));
  EXPECT_TRUE(std::isnan(value("holdfast_server_findings", ",severity=\"ok\"")));
  server_.restart(Data::lose);
  EXPECT_TRUE(becomes("holdfast_server_up", 1));
}

TEST_F(Exporter, GoesOnWhenItsPasswordIsRefusedThatWasAcceptedBefore) {
  raw_.command("ACL", "SETUSER", "app", "on", ">old", "~*", "+@all");
  raw_.command("ACL", "SETUSER", "app", "&*");  // unknown to Redis 6.0, which has no rights on channels
  url_ = "unix://app:old@" + server_.socket_path();
  begin();
  ASSERT_TRUE(becomes("holdfast_server_up", 1));
  raw_.command("ACL", "SETUSER", "app", "resetpass", ">new");
  raw_.command("CLIENT", "KILL", "USER", "app");
  ASSERT_TRUE(becomes("holdfast_server_up", 0));
  raw_.command("ACL", "SETUSER", "app", "resetpass", ">old");
  EXPECT_TRUE(becomes("holdfast_server_up", 1));
}

TEST_F(Exporter, AnswersAtOnceWhileTheServerIsFrozen) {
  begin({"--doctor", "0"});
  ASSERT_TRUE(becomes("holdfast_server_up", 1));
  server_.freeze();
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_THAT(get("/metrics"), HasSubstr("holdfast_server_up{"));
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_TRUE(becomes("holdfast_server_up", 0));
  const auto noticed = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(took * 2, noticed) << "a look takes the command's time limit, 20 answers a part of that";
  server_.thaw();
}

TEST_F(Exporter, ASlowScraperHoldsUpNobody) {
  begin();
  const Connection silent(port_);
  const Connection slow(port_);
  slow.send("GET /metr");
  const Connection deaf(port_);
  deaf.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 OK\r\n"));
  slow.send("ics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Exporter, IdleConnectionsKeepNobodyOut) {
  begin();
  const std::string keeping = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 64; ++i) {
    idle.push_back(std::make_unique<Connection>(port_));
    idle.back()->send(keeping);
    EXPECT_THAT(idle.back()->read_some(), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  for (int i = 0; i < 5; ++i) EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 OK\r\n"));
  // The one that was idle longest is closed for each; those that were not, go on.
  EXPECT_EQ(idle.front()->read_all(), "");
  idle.back()->send(keeping);
  EXPECT_THAT(idle.back()->read_some(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Exporter, ManyConnectionsAtATimeAreBounded) {
  begin();
  std::vector<std::unique_ptr<Connection>> many;
  for (int i = 0; i < 80; ++i) many.push_back(std::make_unique<Connection>(port_));
  // The first are closed, for the last to be served.
  for (int i = 0; i < 16; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)]->read_all(), "");
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Exporter, SaysThatARequestIsNone) {
  begin();
  const std::string host = "Host: x\r\n";
  const std::vector<std::string> requests{std::string("GET\r\n\r\n"),
                                          "GET /metrics\r\n" + host + "\r\n",
                                          "GET /metrics HTTP/9.1\r\n" + host + "\r\n",
                                          "GET /metrics HTTP/1.1\r\n" + host + "no colon\r\n\r\n",
                                          "GET /metrics HTTP/1.1\r\n\r\n",
                                          "GET /metrics HTTP/1.1\r\n" + host + host + "\r\n",
                                          "G T /metrics HTTP/1.1\r\n" + host + "\r\n",
                                          "GET /metrics HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
                                          "GET /metrics HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc",
                                          "\x16\x03\x01 no HTTP at all\r\n\r\n" + std::string(50'000, 'x')};
  for (const std::string& none : requests) {
    const Connection connection(port_);
    connection.send(none);
    EXPECT_THAT(connection.read_all(),
                AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("\r\nConnection: close\r\n")))
        << none.substr(0, 100);
  }
  const Connection endless(port_);
  endless.send("GET /metrics HTTP/1.1\r\n" + host + "X: " + std::string(20'000, 'x'));
  EXPECT_THAT(endless.read_all(), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Exporter, AnswersThoseWhoNameTheHostAsForAProxy) {
  begin();
  for (const char* target : {"http://127.0.0.1:9743/metrics", "HTTP://x/metrics?a=b", "http://[::1]:1/metrics"}) {
    EXPECT_THAT(get(target), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("holdfast_server_up"))) << target;
  }
  EXPECT_THAT(get("http://x"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("<h1>Locks</h1>")));
  EXPECT_THAT(get("http://x/other"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(get("/other?http://x/metrics"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
}

TEST_F(Exporter, SpeaksTheFormatThatIsAskedFor) {
  begin();
  EXPECT_THAT(get("/metrics"), AllOf(HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
                                     Not(HasSubstr("# EOF"))));
  EXPECT_THAT(get("/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"),
              AllOf(HasSubstr("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"),
                    testing::EndsWith("\n# EOF\n")));
}

TEST_F(Exporter, RefusesWhatItDoesNotHave) {
  begin();
  EXPECT_THAT(get("/"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("href=\"metrics\"")));
  EXPECT_THAT(get("/other"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(get("/metrics?x=1"), StartsWith("HTTP/1.1 200 OK\r\n"));
  const Connection post(port_);
  post.send("POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(post.read_all(), AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("\r\nAllow: GET, HEAD\r\n")));
  const Connection head(port_);
  head.send("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head.read_all(), AllOf(HasSubstr("\r\nContent-Length: "), testing::EndsWith("\r\n\r\n")));
}

TEST_F(Exporter, EndsWithZeroByASignal) {
  begin();
  process_->signal(SIGTERM);
  EXPECT_EQ(finish(*process_).status, exited(0));
}

TEST_F(Exporter, SaysThatItCannotListen) {
  begin();
  const std::string port = std::to_string(port_);
  const Outcome taken = use({"exporter", "--listen", "127.0.0.1:" + port});
  EXPECT_EQ(taken.status, exited(69));
  EXPECT_EQ(taken.err, "holdfast: cannot listen on 127.0.0.1:" + port + ": Address already in use\n");
  EXPECT_EQ(use({"exporter", "--listen", "no-address:1"}).status, exited(64));
  EXPECT_EQ(use({"exporter", "--listen", "127.0.0.1:x"}).status, exited(64));
  EXPECT_EQ(use({"exporter", "--listen", "127.0.0.1:70000"}).status, exited(64));
}

}  // namespace
}  // namespace holdfast::test::exporter_test
