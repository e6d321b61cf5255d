// SPDX-License-Identifier: Apache-2.0
// `holdfast ask-release`: asks those who hold a lock to give it back.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

struct Asked {
  std::size_t heard = 0;
  std::optional<Error> error;
};

class AskReleaseVerb final : public Verb {
 public:
  void declare(CommandLine&) override {}
  void accept(const CommandLine& line) override { name_ = line.only("the name of the lock"); }
  int run(const Console& console) override;

 private:
  std::string name_;
};

int AskReleaseVerb::run(const Console& console) {
  AtServers servers(make_configs(console));
  const std::vector<Asked> asked = ask_all(servers.clients(), [&](const Client& client) {
    try {
      return Asked{client.lock(name_).ask_release(), {}};
    } catch (const Error& error) {
      return Asked{0, error};
    }
  });
  // A holder of several servers hears it on each.
  const std::size_t heard = std::ranges::max(asked, {}, &Asked::heard).heard;
  const auto failed = std::ranges::find_if(asked, [](const Asked& each) { return each.error.has_value(); });
  if (heard == 0 && failed != asked.end()) throw Error(*failed->error);
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", name_);
    out["heard"] = heard;
    console.result(json_line(out));
  }
  const std::string lock = fmt::format("lock {} on {}", base::quote(name_), servers.in_words());
  if (heard == 0) {
    console.note(lock + ": nobody listens; it is free, or its holders take no requests");
  } else {
    console.note(fmt::format("{}: asked {} to give it back", lock,
                             heard == 1 ? "its holder" : fmt::format("{} holders", heard)));
  }
  return heard == 0 ? kExitNo : kExitOk;
}

}  // namespace

extern const VerbEntry ask_release_verb{.name = "ask-release",
                                        .summary = R"(ask the holder of a lock to give it back)",
                                        .head = R"(holdfast ask-release [OPTIONS] NAME

Asks those who hold the lock to give it back, and says how many have heard it: those of run --on-asked, and programs
that call Hold::on_asked. Nothing else happens: whether and when they do is theirs. break takes it from any holder.
)",
                                        .end = R"(
Exit codes
  0   somebody has heard it                69  no server, or it refuses
  1   nobody listens                       70  internal error
  64  wrong usage

Examples
  holdfast ask-release deploy && holdfast wait -w 1m deploy
  holdfast run --on-asked term deploy -- ./long-deployment.sh     # which is ended when somebody asks
)",
                                        .make = make_verb<AskReleaseVerb>};

}  // namespace holdfast::cli
