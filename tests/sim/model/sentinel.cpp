// SPDX-License-Identifier: Apache-2.0
#include "sim/model/sentinel.hpp"

#include <utility>

namespace holdfast::test {
namespace {

constexpr std::string_view kSwitchChannel = "+switch-master";

std::string words(const Place& place) { return place.host + " " + std::to_string(place.port); }

}  // namespace

void ModelSentinel::switch_to(const Place& primary) {
  const Place before = std::exchange(primary_, primary);
  tell(Channel::plain, kSwitchChannel, name_ + " " + words(before) + " " + words(primary));
  flush();
}

void ModelSentinel::execute(Session&, Args command, std::string& out) {
  if (command[0] == "SENTINEL" && command.size() == 3) return answer(command, out);
  if (command[0] == "ROLE") {
    put_head(out, '*', 2);
    put_text(out, "sentinel");
    put_head(out, '*', 1);
    return put_text(out, name_);
  }
  if (command[0] == "INFO") return put_text(out, "# Server\r\nredis_mode:sentinel\r\nrun_id:" + run_id() + "\r\n");
  throw Refused("ERR unknown command '" + std::string(command[0]) + "'");
}

void ModelSentinel::answer(Args command, std::string& out) const {
  const bool known = command[2] == name_;
  if (command[1] == "GET-MASTER-ADDR-BY-NAME") {
    if (!known) return put_null(out);
    put_head(out, '*', 2);
    put_text(out, primary_.host);
    return put_text(out, std::to_string(primary_.port));
  }
  if (!known) throw Refused("ERR No such master with that name");
  if (command[1] == "SENTINELS") {
    put_head(out, '*', others_.size());
    for (const Place& other : others_) {
      put_head(out, '%', 3);
      put_text(out, "name");
      put_text(out, to_string(other));
      put_text(out, "ip");
      put_text(out, other.host);
      put_text(out, "port");
      put_text(out, std::to_string(other.port));
    }
  } else if (command[1] == "MASTER") {
    put_head(out, '%', 4);
    put_text(out, "name");
    put_text(out, name_);
    put_text(out, "ip");
    put_text(out, primary_.host);
    put_text(out, "port");
    put_text(out, std::to_string(primary_.port));
    put_text(out, "num-slaves");
    put_text(out, std::to_string(replicas_));
  } else {
    throw Refused("ERR Unknown sentinel subcommand");
  }
}

}  // namespace holdfast::test
