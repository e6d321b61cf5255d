#include "redis/cluster/survey.hpp"

#include <utility>

namespace holdfast::redis::cluster {

Survey::Survey(const std::vector<NodeAddress>& seeds, std::uint64_t chance) : pace_(chance), rounds_(seeds, ~chance) {}

Survey::Step Survey::start(base::TimePoint now) { return ask(now); }

Survey::Step Survey::ask(base::TimePoint now) {
  if (pace_.calm(now)) rounds_.begin_anew();
  question_ = Question{rounds_.next(), now};
  doubt_ = false;
  pace_.on_asked();
  return {.ask = question_->to};
}

Survey::Step Survey::on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about) {
  if (pace_.calm(now)) further_ = 0;
  if (pace_.calm(now) && !question_) rounds_.begin_anew();
  if (about) rounds_.doubt(*about);
  if (question_) {
    doubt_ = true;
    pace_.note_trouble(now);
  } else {
    pace_.on_doubt(now);
  }
  return {.due = pace_.due()};
}

void Survey::on_corrected(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to) {
  map_.correct(now, from, slot, to);
}

Survey::Step Survey::on_answer(base::TimePoint now, const NodeAddress& node, const View& view) {
  if (!is_answer_of(node)) return {.due = pace_.due()};
  const bool settled = map_.hear({now, question_->asked_at, node, view},
                                 [this](const NodeAddress& each) { return rounds_.doubted(each); });
  if (!map_.view()) return on_failure(now, node, "it knows of no slots that are served");
  question_.reset();
  rounds_.on_answer();
  rounds_.set_map(*map_.view());
  pace_.set_primaries(map_.view()->primaries.size());
  const bool complete = settled && map_.view()->covered == kSlots;
  if (complete) further_ = 0;
  const bool further = !complete && further_ < kFurther;
  if (further) ++further_;
  pace_.on_ended(now, doubt_ || further);
  return {.adopt = map_.view(), .due = pace_.due()};
}

Survey::Step Survey::on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause) {
  if (!is_answer_of(node)) return {.due = pace_.due()};
  question_.reset();
  rounds_.on_failure(node, cause);
  pace_.on_ended(now, true);
  Step step{.due = pace_.due()};
  if (!map_.view() && rounds_.over()) step.problem = rounds_.problem();
  return step;
}

Survey::Step Survey::on_time(base::TimePoint now) {
  if (question_ || now < pace_.due()) return {.due = pace_.due()};
  return ask(now);
}

Survey::Step Survey::on_wanted(base::TimePoint now) {
  if (map_.view()) return on_doubt(now, {});
  if (!question_) pace_.hurry(now);
  return {.due = pace_.due()};
}

}  // namespace holdfast::redis::cluster
