#include "cli/secrets.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kMark = "://";
constexpr std::array<std::string_view, 7> kServerSchemes{
    "redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"};
/// The example login in messages that explain where a login belongs.
constexpr std::string_view kExample = "user:password";
constexpr std::size_t kNowhere = std::string_view::npos;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a server's URL has its `://`, or npos.
std::size_t server_mark(std::string_view text) {
  for (std::size_t mark = text.find(kMark); mark != kNowhere; mark = text.find(kMark, mark + 1)) {
    std::size_t begin = mark;
    while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '+')) --begin;
    std::string scheme(text.substr(begin, mark - begin));
    std::ranges::transform(scheme, scheme.begin(), [](char c) { return c == '+' ? c : static_cast<char>(c | 0x20); });
    if (std::ranges::find(kServerSchemes, scheme) != kServerSchemes.end()) return mark;
  }
  return kNowhere;
}

}  // namespace

bool has_login(std::string_view text) {
  const std::size_t mark = server_mark(text);
  if (mark == kNowhere) return false;
  const std::string_view rest = text.substr(mark + kMark.size());
  if (rest.find('@') != kNowhere) return true;
  // Without a host after it, the text after a colon is not a port.
  std::string_view places = rest.substr(0, rest.find_first_of("/?#"));
  while (true) {
    const std::string_view place = places.substr(0, places.find(','));
    const std::size_t colon = place.starts_with('[') ? kNowhere : place.find(':');
    if (colon != kNowhere && place.find_first_not_of("0123456789", colon + 1) != kNowhere) return true;
    if (place.size() == places.size()) return false;
    places.remove_prefix(place.size() + 1);
  }
}

std::string shown(std::string_view arg) {
  // Removes all of it, since a login before a later '@' may begin earlier.
  const std::size_t mark = server_mark(arg) == kNowhere ? kNowhere : arg.find(kMark);
  return base::printable(mark == kNowhere ? std::string(arg)
                                          : std::string(arg.substr(0, mark)).append(kMark).append("***"));
}

std::string without_logins(std::string_view message) {
  std::string out;
  while (true) {
    const std::size_t mark = message.find(kMark);
    if (mark == kNowhere) return out.append(message);
    const std::size_t begin = mark + kMark.size();
    const std::string_view url = message.substr(begin, message.find_first_of(" \"'\n\t", begin) - begin);
    const std::size_t at = url.rfind('@');
    const bool secret = at != kNowhere && url.substr(0, at) != kExample;
    out.append(message.substr(0, begin)).append(secret ? "***" : "");
    message.remove_prefix(begin + (secret ? at : 0));
  }
}

}  // namespace holdfast::cli
