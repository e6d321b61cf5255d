// The search for locks on a server, page by page: what to ask next, and what the replies mean. Pure.
#pragma once

#include <string>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/resp.hpp"
#include "face/looking.hpp"

namespace holdfast::face {

/// SCAN for a page of keys; the sizes of those that are hashes; who holds those that have one field: other people's
/// hashes, which may be large, are not read. At the end, who the holders of all are.
class Listing {
 public:
  Listing(std::string prefix, const std::string& pattern, Detail detail)
      : prefix_(std::move(prefix)), pattern_(prefix_ + pattern), ask_holders_(detail) {}

  std::vector<base::Command> commands() const;
  /// Takes the replies to those, errors among them. False: that was all.
  bool on_replies(const std::vector<base::Reply>& replies);
  /// The commands' errors are about single keys, and to be kept.
  bool keeps_errors() const { return step_ != Step::scan; }
  std::vector<LockInfo> take() { return std::move(found_); }

 private:
  enum class Step { scan, sizes, owners, holders };
  bool next_page();

  const std::string prefix_, pattern_;
  Step step_ = Step::scan;
  std::string cursor_ = "0";
  std::vector<std::string> keys_;  // of this page
  std::vector<LockInfo> found_;
  AskHolders ask_holders_;
};

}  // namespace holdfast::face
