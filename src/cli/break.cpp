// `holdfast break`: takes a lock away from its holder.
#include <iostream>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "base/text.hpp"
#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

bool confirmed(const std::string& question) {
  write_all(STDERR_FILENO, question + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

int break_lock(const CommonOptions& common, const BreakOptions& options, const Console& console) {
  if (!options.yes && isatty(STDIN_FILENO) == 0) {
    throw UsageError("break asks before it acts, but standard input is not a terminal; give --yes to go on");
  }
  Client client(make_config(common));
  KeyLock lock = key_lock(client, options.name, options.kind);
  const std::string lock_in_words = fmt::format("lock {} on {}", base::quote(options.name), client.node());
  const LockInfo info = lock.info();

  bool broken = false;
  if (!info.owner.empty() &&
      (options.yes || confirmed(fmt::format("{} is held by {}. Its work may overlap with the next holder's. Break it?",
                                            lock_in_words, printable(info.owner))))) {
    broken = lock.force_release();
  }
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", options.name);
    out["broken"] = broken;
    out["owner"] = nullptr;
    if (!info.owner.empty()) put_text(out, "owner", info.owner);
    console.result(json_line(out));
  }
  if (broken) {
    console.note(fmt::format("{}: taken from {}", lock_in_words, printable(info.owner)));
  } else {
    console.note(fmt::format("{}: {}", lock_in_words, info.owner.empty() ? "is free" : "left alone"));
  }
  return broken ? kExitOk : kExitNo;
}

}  // namespace holdfast::cli
