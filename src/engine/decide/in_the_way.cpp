#include "engine/decide/in_the_way.hpp"

#include <algorithm>

namespace holdfast::engine {

void InTheWay::on_vote(std::size_t member, const Attempt& vote) {
  const bool given_back = vote.kind == Attempt::Kind::granted || vote.kind == Attempt::Kind::not_durable;
  found_[member] = given_back ? Found::nothing : vote.kind == Attempt::Kind::busy ? Found::taken : Found::silence;
}

bool InTheWay::on_release(std::size_t member) {
  if (found_[member] == Found::nothing) return false;
  found_[member] = Found::nothing;
  const auto taken = static_cast<std::size_t>(std::ranges::count(found_, Found::taken));
  return quorum_.members - taken >= quorum_.needed;
}

}  // namespace holdfast::engine
