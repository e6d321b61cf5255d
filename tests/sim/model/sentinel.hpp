// SPDX-License-Identifier: Apache-2.0
// A Sentinel: what it says of the one primary that it knows, and to those who listen.
#pragma once

#include <string>
#include <vector>

#include "sim/model/node.hpp"

namespace holdfast::test {

class ModelSentinel final : public ModelNode {
 public:
  ModelSentinel(Time& time, NodeSettings settings, std::string name, const Place& primary, int replicas)
      : ModelNode(time, std::move(settings)), name_(std::move(name)), primary_(primary), replicas_(replicas) {}

  void set_others(std::vector<Place> others) { others_ = std::move(others); }
  const Place& primary() const { return primary_; }
  /// Tells those who listen.
  void switch_to(const Place& primary);
  /// It says so, whatever is true; those who listen hear nothing.
  void claim(const Place& primary) { primary_ = primary; }
  /// It is up again, as another process.
  void restart() { come_up(); }

 private:
  void execute(Session& session, Args command, std::string& out) override;
  std::string_view mode() const override { return "sentinel"; }
  std::string_view role() const override { return "sentinel"; }
  void answer(Args command, std::string& out) const;

  const std::string name_;
  Place primary_;
  int replicas_;
  std::vector<Place> others_;
};

}  // namespace holdfast::test
