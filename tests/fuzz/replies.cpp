// SPDX-License-Identifier: Apache-2.0
// Any reply in the place of each that the library reads: none makes more of it than there is.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "kinds/connection_name.hpp"
#include "kinds/lock.hpp"
#include "kinds/server_calls.hpp"
#include "kinds/simple_lock.hpp"
#include "redis/connection/login.hpp"
#include "redis/decide/errors.hpp"
#include "redis/decide/redirect.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::fuzz {
namespace {

using base::Reply;

void check_calls(const Reply& reply, std::size_t asked) {
  const wire::AcquireReply acquired = wire::decode_acquire(reply);
  require(!acquired.granted || !acquired.busy_for, "an acquire is granted or busy, not both");
  require(acquired.granted == reply.is_null(), "only nothing is a grant");
  const auto told = wire::decode_release(reply);
  require(!told || *told >= 0, "nobody is told less than nobody");
  const std::vector<bool> renewed = wire::decode_renew(reply, asked);
  require(renewed.empty() || renewed.size() == asked, "each renewal has an outcome, or none has");
  wire::lock::decode_holder(reply);
  wire::simple::decode_holder(reply);
  wire::decode_run_id(reply);
  wire::decode_acks(reply);
  const auto replicas = wire::decode_replicas(reply);
  require(!replicas || *replicas >= 0, "there are no fewer replicas than none");
  try {
    wire::time_left(reply);
  } catch (const std::runtime_error&) {
    // It is no number.
  }
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
}

void check_name(const wire::Identity& identity) {
  const std::string name = wire::connection_name("fuzz", identity);
  require(is_printable(name), "the name of a connection is printable", name);
  const auto again = wire::parse_connection_name(name);
  require(again && again->client == identity.client && again->process == identity.process,
          "what a connection is named by is read again", name);
  require(identity.host.starts_with(again->host) && identity.label.starts_with(again->label),
          "of host and label no more is cut than the end", name);
}

void check_connections(const Reply& reply) {
  wire::are_few_connections(reply);
  const auto connections = wire::decode_connections(reply);
  if (!connections) return;
  for (const auto& [client, connection] : *connections) {
    require(client == connection.identity.client && wire::is_uuid(client), "a client is known by its UUID", client);
    require(connection.age >= std::chrono::seconds(0), "no connection is younger than new");
    check_name(connection.identity);
  }
}

void check_error(std::string_view text) {
  const redis::Meaning meaning = redis::classify(text);
  require(meaning.code != Errc{}, "an error has a meaning", text);
  constexpr std::string_view kArguments = ", with args";
  const std::string explained = redis::explain(text);
  require(explained.find(kArguments) == explained.npos, "no error repeats a command's arguments", explained);
  redis::refuses_command(text);
  redis::refuses_a_key(text);
  redis::is_demoted(text);
  const NodeAddress asked{"10.0.0.9", 7000};
  if (const auto redirect = redis::cluster::read_redirect(text, asked)) {
    require(redis::is_redirect(text), "what leads elsewhere is a redirect", text);
    require(redirect->slot < redis::cluster::kSlots, "a redirect is about a slot", text);
    require(redirect->to.port != 0 && !redirect->to.host.empty(), "a redirect leads to somewhere", text);
  }
}

void check_login(const std::vector<Reply>& replies, std::uint8_t how) {
  Config config;
  config.client_name = (how & 1U) != 0 ? "holdfast:test" : "";
  config.database = (how & 2U) != 0 ? 3 : 0;
  if ((how & 4U) != 0) config.server = Servers{{{"127.0.0.1"}, {"other"}}};
  redis::Login login(config, {.client = how >> 4U, .age = std::chrono::seconds(how)});
  config.protocol = (how & 8U) != 0 ? 2 : 3;
  require(!login.first({}).empty(), "a login says something");
  std::size_t steps = 0;
  for (std::vector<Reply> answers = replies; !login.next(answers).empty(); answers.resize(1)) {
    require(++steps < 5, "a login comes to an end");
    if (answers.empty()) answers.emplace_back();
  }
  require(!login.outcome().error || !login.outcome().cause.empty() || !replies.empty(), "a failed login has a cause");
}

void check(const Reply& reply, std::size_t asked) {
  check_calls(reply, asked);
  check_connections(reply);
  if (reply.is_error() || reply.is_text()) check_error(reply.text);
  for (const Reply& each : reply.elements) check(each, asked);
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(replies, bytes) {
  using namespace holdfast;
  using namespace holdfast::fuzz;
  Input input(bytes);
  const std::uint8_t how = input.byte();
  const std::size_t asked = input.below(8);
  std::vector<base::Reply> replies;
  if (input.coin()) {
    replies = decoded(input.rest());
  } else {
    while (!input.empty() && replies.size() < 8) replies.push_back(made_reply(input));
  }
  for (const base::Reply& each : replies) check(each, asked);
  check_login(replies, how);
}
