#include "redis/protocol/sent_secrets.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::size_t kMost = 4;

/// Where a secret is in the text; empty: none is.
struct Found {
  std::size_t at = std::string_view::npos;
  std::size_t length = 0;
};

/// The first one, and of those that begin there the longest, which may have another one in it.
Found first_of(const std::vector<std::string>& secrets, std::string_view text) {
  Found first;
  for (const std::string& secret : secrets) {
    const std::size_t at = text.find(secret);
    if (at == std::string_view::npos) continue;
    if (at < first.at || (at == first.at && secret.size() > first.length)) first = {at, secret.size()};
  }
  return first;
}

/// How many of the last bytes are the beginning of a secret.
std::size_t begun_at_the_end(const std::vector<std::string>& secrets, std::string_view text) {
  std::size_t most = 0;
  for (const std::string& secret : secrets) {
    for (std::size_t length = std::min(secret.size(), text.size()); length > most; --length) {
      if (text.ends_with(std::string_view(secret).substr(0, length))) most = length;
    }
  }
  return most;
}

}  // namespace

void SentSecrets::add(std::string secret) {
  if (secret.empty() || std::ranges::find(secrets_, secret) != secrets_.end()) return;
  if (secrets_.size() == kMost) secrets_.erase(secrets_.begin());
  secrets_.push_back(std::move(secret));
}

std::string SentSecrets::hidden_in(std::string_view text) const {
  std::string out;
  while (true) {
    const Found found = first_of(secrets_, text);
    if (found.length == 0) return out.append(text);
    out.append(text.substr(0, found.at)).append(kHidden);
    text.remove_prefix(found.at + found.length);
  }
}

std::string SentSecrets::hidden_in_beginning(std::string_view text) const {
  const std::size_t begun = begun_at_the_end(secrets_, text);
  std::string out = hidden_in(text.substr(0, text.size() - begun));
  return begun == 0 ? out : out.append(kHidden);
}

}  // namespace holdfast::redis
