// SPDX-License-Identifier: Apache-2.0
#include "answers/real.hpp"

#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

namespace holdfast::test::answers {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

Config config_of(const Proxy& proxy, std::size_t number) {
  Config config = Config::from_url(proxy.url());
  config.timing.reconnect_min = 1ms;
  config.timing.reconnect_max = 5ms;
  config.lease = 30s;
  config.timing.command_timeout = 2s;
  config.timing.safety_poll = 200ms;
  config.timing.patience = 30s;
  config.loss_notice = number % 2 == 0;
  config.pipelined_release = number % 4 < 2;
  return config;
}

}  // namespace

RealGround::RealGround(std::size_t clients, const Proxy::Weather& weather)
    : proxy_(server_, Proxy::Listen::unix_socket) {
  for (std::size_t i = 0; i < clients; ++i) clients_.push_back(client_on(context_, config_of(proxy_, i)));
  proxy_.set_weather(weather);
}

RealGround::~RealGround() = default;

void RealGround::run(Driver& driver, base::Duration hangs, const std::function<void()>& every_second) {
  driver.start();
  for (int ends_for = 0; !driver.over() && ends_for < 60; ends_for += driver.disagreement() ? 1 : 0) {
    context_.restart();
    context_.run_for(1s);
    driver.look_for_hangs(hangs);
    if (every_second) every_second();
  }
  proxy_.set_weather({});
  for (Client& client : clients_) client.close();
  const auto until = std::chrono::steady_clock::now() + 30s;
  context_.restart();
  while (context_.run_one_until(until) > 0) {
  }
}

void RealGround::after(std::chrono::microseconds time, std::function<void()> work) {
  const auto timer = std::make_shared<asio::steady_timer>(context_, time);
  timer->async_wait([timer, work = std::move(work)](const boost::system::error_code&) { work(); });
}

base::Duration RealGround::left(const std::string& key) {
  const long long left = raw_.pttl(key);
  if (left == -1) return base::Duration::max() / 2;
  return milliseconds(std::max(left, 0LL));
}

std::int64_t RealGround::now_of_server() {
  const Reply time = raw_.command("TIME");
  return std::stoll(time.elements[0].text) * 1000 + std::stoll(time.elements[1].text) / 1000;
}

base::Duration RealGround::permit_left(const std::string& key, const std::string& id) {
  const std::int64_t now = now_of_server();  // asked first: at most
  const Reply score = raw_.command("ZSCORE", key, id);
  return score.text.empty() ? base::Duration{} : milliseconds(std::max<std::int64_t>(std::stoll(score.text) - now, 0));
}

RealGround::Permits RealGround::permits(const std::string& key) {
  const std::int64_t now = now_of_server();
  return {raw_.command("ZCARD", key).integer, raw_.command("ZCOUNT", key, "-inf", now).integer};
}

bool RealGround::has_field(const std::string& key, const std::string& field) {
  return raw_.command("HEXISTS", key, field).integer == 1;
}

std::optional<std::string> RealGround::text(const std::string& key) {
  const Reply reply = raw_.command("GET", key);
  return reply.is_null() ? std::nullopt : std::optional(reply.text);
}

}  // namespace holdfast::test::answers
