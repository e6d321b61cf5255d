// `holdfast inspect`: who holds a lock, and for how long.
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {

int inspect(const CommonOptions& common, const InspectOptions& options, const Console& console) {
  Client client(make_config(common));
  const LockInfo info = key_lock(client, options.name, options.kind).info();
  const bool held = !info.owner.empty();

  if (console.json()) {
    boost::json::object out = to_json(info);
    out["held"] = held;
    out["node"] = client.node();
    console.result(json_line(out));
  } else if (!console.quiet()) {
    std::string text = fmt::format("name   {}\nstate  {}\n", printable(info.name), held ? "held" : "free");
    if (held) {
      text += fmt::format("owner  {}\nttl    {}\nholds  {}\n", printable(info.owner),
                          info.remaining ? in_words(*info.remaining) : "none", info.holds);
    }
    console.result(text + fmt::format("node   {}\n", client.node()));
  }
  return held ? kExitOk : kExitNo;
}

}  // namespace holdfast::cli
