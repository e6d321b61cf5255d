// SPDX-License-Identifier: Apache-2.0
#include "judges/outcomes.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace holdfast::test {
namespace {

constexpr Microseconds kNever = HeldOnce::kNever;

/// Times in which a lock may be taken by nobody who is on record: by a call whose outcome nobody knows and that is not
/// undone yet, or that a server remembers from before a fault.
class Ghosts {
 public:
  struct Ghost {
    Microseconds from, to;
    const void* by;  ///< The call.
  };

  /// Before the first question.
  void add(const Ghost& ghost) { all_.push_back(ghost); }
  const std::vector<Ghost>& all() const { return all_; }
  void sort() {
    std::ranges::sort(all_, {}, &Ghost::from);
    // Of all up to here, the two that last longest, since one may be of the call that asks.
    for (const Ghost& each : all_) {
      Longest longest = longest_.empty() ? Longest{each, {0, -1, nullptr}} : longest_.back();
      if (!longest_.empty() && each.to > longest.first.to) {
        longest = {each, longest.first};
      } else if (!longest_.empty() && each.to > longest.second.to) {
        longest.second = each;
      }
      longest_.push_back(longest);
    }
  }
  /// One was there between these times, other than this call's.
  bool any(Microseconds from, Microseconds to, const void* but) const {
    const auto behind = std::ranges::upper_bound(all_, to, {}, &Ghost::from);
    if (behind == all_.begin()) return false;
    const Longest& longest = longest_[static_cast<std::size_t>(behind - all_.begin()) - 1];
    const Ghost& ghost = but != nullptr && longest.first.by == but ? longest.second : longest.first;
    return ghost.to >= from;
  }

 private:
  struct Longest {
    Ghost first, second;
  };

  std::vector<Ghost> all_;
  std::vector<Longest> longest_;
};

/// What is recorded of one lock, apart from its holds.
struct Others {
  std::vector<const FailedCall*> failures;
  std::vector<const Operation*> operations;
  std::vector<const Forced*> forced;
};

class NameSteps {
 public:
  NameSteps(const View& view, const View::Name& name, const Others& others)
      : view_(view), story_(view.story()), name_(name), others_(others) {}

  void each_piece(std::size_t size, const std::function<void(const Piece&)>& take) {
    find_ghosts();
    find_lines();
    for (std::size_t i = 0; i < name_.holds.size(); ++i) add_hold(i);
    add_lost_tokens();
    for (const FailedCall* call : others_.failures) add_failure(*call);
    add_operations();
    for (const Forced* each : others_.forced) add_forced(*each);
    cut(size);
    hand_over(take);
  }

 private:
  struct Cut {
    Microseconds at;
    long long holder;
  };

  const History& history() const { return story_.history; }
  long long owner_of(std::size_t place) const { return static_cast<long long>(place) + 1; }
  template <class Record>
  static std::string ref(char kind, const std::vector<Record>& all, const Record& record) {
    return kind + std::to_string(&record - all.data());
  }

  void find_ghosts() {
    const StorySettings& settings = story_.settings;
    const Microseconds settled = settings.command_timeout + settings.allowance;
    for (const StruckFault& fault : story_.faults) {
      if (!fault.concerns(name_.name)) continue;
      if (!fault.exclusion_promised) faults_.push_back(&fault);
      if (!fault.clients.empty() && !fault.kills) continue;
      const Microseconds to = fault.ended == 0 ? kNever : fault.works_until() + settings.lease + settled;
      ghosts_.add({fault.began - settled, to, nullptr});
    }
    const std::vector<Ghosts::Ghost> of_faults = ghosts_.all();
    for (const FailedCall* call : others_.failures) {
      const std::string word = word_of(*call);
      if (word == "busy") continue;
      const bool seen = word == "timed_out" || word == "cancelled";
      Microseconds to = call->ended + settled + (seen ? 0 : settings.lease);
      for (const Ghosts::Ghost& fault : of_faults) {
        if (fault.from < to && fault.to > call->called) to = std::max(to, fault.to);
      }
      for (const StruckFault& fault : story_.faults) {  // it can undo its call when that is over
        if (fault.clients.empty() || !fault.strikes(call->client) || fault.began > to) continue;
        if (fault.ended == 0) to = kNever;
        if (fault.ended > call->called) to = std::max(to, fault.ended + settled + settings.lease);
      }
      ghosts_.add({call->called, to, call});
    }
    for (const Forced* each : others_.forced) {
      if (each->answer != "no") ghosts_.add({each->called, known_after(*each), each});
    }
    ghosts_.sort();
  }

  /// When whoever had it has learned that it was broken by force: until then his client refuses it to its other
  /// callers.
  Microseconds known_after(const Forced& forced) const {
    Microseconds known = forced.ended;
    for (const Held& held : name_.holds) {
      const HeldOnce& hold = view_.hold(held);
      if (hold.granted <= forced.ended && (hold.open || hold.ended >= forced.called) && hold.outcome != "released") {
        known = std::max(known, hold.open ? kNever : hold.ended);
      }
    }
    std::map<std::pair<Text, long long>, const Operation*> entered;
    for (const Operation* each : others_.operations) {
      const Operation*& first = entered[{each->client, each->thread}];
      if (each->acquire) {
        if (first == nullptr && each->outcome == "granted") first = each;
      } else if (each->outcome != "still_held") {
        const bool had_it = first != nullptr && first->called <= forced.ended && each->ended >= forced.called;
        if (had_it && each->outcome != "released") known = std::max(known, each->ended);
        first = nullptr;
      }
    }
    return known;
  }

  /// Who asks once is refused, too, while others of his client stand in line.
  void find_lines() {
    const auto acquires = [](const Operation* each) { return each->acquire; };
    if (others_.failures.empty() && std::ranges::none_of(others_.operations, acquires)) return;
    for (const Held& held : name_.holds) {
      const HeldOnce& hold = view_.hold(held);
      lines_[hold.client].add({hold.called, hold.granted, &hold});
    }
    for (const FailedCall* call : others_.failures) lines_[call->client].add({call->called, call->ended, call});
    for (const Operation* each : others_.operations) {
      if (each->acquire) lines_[each->client].add({each->called, each->ended, each});
    }
    for (auto& [client, line] : lines_) line.sort();
  }
  bool proves_nothing(const auto& refused) const {
    const bool in_line = lines_.at(refused.client).any(refused.called, refused.ended, &refused);
    return story_.settings.split_votes || in_line || in_ghost(refused.called, refused.ended, &refused);
  }

  bool in_ghost(Microseconds from, Microseconds to, const void* than = nullptr) const {
    return ghosts_.any(from, to, than);
  }

  static std::string word_of(const FailedCall& call) { return call.word.empty() ? call.cause.str() : call.word.str(); }

  /// Its token and one beside it do not grow: its holder may have heard of it when a fault had ended it.
  bool is_out_of_order(std::size_t place) const {
    const auto token = [&](std::size_t at) { return view_.hold(name_.holds[at]).token; };
    if (token(place) == 0) return false;
    if (place > 0 && token(place - 1) > token(place)) return true;
    return place + 1 < name_.holds.size() && token(place + 1) < token(place);
  }

  /// The first moment at which this hold can have been lost although its lease was not over, by a fault not before
  /// `since`; kNever: at none.
  Microseconds excused(const HeldOnce& hold, Microseconds since, Microseconds until) const {
    Microseconds first = kNever;
    for (const StruckFault* fault : faults_) {
      if (fault->began > until) continue;
      if (fault->works_until() >= hold.granted) first = std::min(first, std::max(since, fault->began));
    }
    for (const Forced* each : others_.forced) {
      if (each->answer != "no" && each->called <= until && each->ended >= hold.granted) {
        first = std::min(first, std::max(hold.granted, each->called));
      }
    }
    return first;
  }

  /// Two primaries at once count by themselves.
  bool tokens_are_lost(const HeldOnce& hold) const {
    return std::ranges::any_of(faults_, [&](const StruckFault* fault) {
      return !fault->tokens_promised && fault->began <= hold.granted && fault->works_until() >= hold.granted;
    });
  }

  void add_hold(std::size_t place) {
    static const Text kReleased("released"), kWasLost("was_lost"), kNoReason("-"), kMaxHold("max_hold"),
        kClosed("closed");
    const HeldOnce& hold = view_.hold(name_.holds[place]);
    if (hold.shared) return;  // of a read-write lock the writers are judged
    const std::string from = ref('h', history().holds, hold);
    const long long owner = owner_of(place);
    steps_.push_back({"granted", owner, hold.called, hold.granted, tokens_are_lost(hold) ? 0 : hold.token, from});
    const Microseconds since = is_out_of_order(place) ? hold.called : hold.granted;
    const Microseconds by_fault = excused(hold, since, hold.open ? kNever : hold.ended);
    if (hold.open) {  // it may have called its release
      steps_.push_back({"end", owner, hold.granted, kNever, 0, from});
    } else if (hold.outcome == kReleased && hold.reason == kNoReason && by_fault == kNever) {
      steps_.push_back({"released", owner, hold.released, hold.ended, 0, from});
    } else {
      const Microseconds by_itself = hold.deadline == 0 && story_.is_other(hold.client) ? hold.granted
                                     : hold.deadline == 0                               ? kNever
                                     : hold.deadline <= hold.granted                    ? hold.called
                                                                                        : hold.deadline;
      Microseconds first = std::min(by_fault, by_itself);
      // Whose own side has ended it need not ask the server, where it may stand for a little longer.
      const bool by_own_side = hold.over_by_itself() || hold.reason == kMaxHold || hold.reason == kClosed;
      if (hold.outcome == kWasLost && !by_own_side) {
        steps_.push_back({"was_lost", owner, hold.released, hold.ended, 0, from});
      } else {
        first = std::min(first, hold.released);
      }
      if (first != kNever) steps_.push_back({"end", owner, first, kNever, 0, from});
    }
  }

  /// By a fault that loses data, or as long as it works on: a client that was stopped may still reach the old primary.
  void add_lost_tokens() {
    if (std::ranges::none_of(name_.holds, [&](const Held& held) { return view_.hold(held).token != 0; })) return;
    for (const StruckFault* fault : faults_) {
      if (fault->tokens_promised) continue;
      steps_.push_back({"tokens_lost", 0, fault->began, fault->works_until(), 0, "?"});
    }
  }

  void add_failure(const FailedCall& call) {
    if (call.shared || name_.has_readers) return;  // somebody may have read
    if (!call.set.empty()) return;                 // it may not have come to ask for this one of several
    const std::string word = word_of(call);
    if ((word != "busy" && word != "timed_out") || proves_nothing(call)) return;
    steps_.push_back({"refused", 0, call.called, call.ended, 0, ref('f', history().failures, call)});
  }

  /// A thread that has it enters again, and leaves but for the last time, without asking the server.
  void add_operations() {
    struct Thread {
      long long owner = 0;
      int depth = 0;
      Microseconds granted = 0;  // last
    };
    std::map<std::pair<Text, long long>, Thread> threads;
    for (const Operation* each : others_.operations) {
      Thread& thread = threads[{each->client, each->thread}];
      if (thread.owner == 0) thread.owner = owner_of(name_.holds.size() + threads.size());
      const std::string from = ref('o', history().operations, *each);
      const std::string& outcome = each->outcome;
      const auto add = [&](const char* kind, Microseconds called, Microseconds ended) {
        steps_.push_back({kind, thread.owner, called, ended, 0, from});
      };
      if (each->acquire && outcome == "granted") {
        if (thread.depth++ > 0) continue;
        add("granted", each->called, each->ended);
        thread.granted = each->called;
      } else if (outcome == "still_held") {
        --thread.depth;
      } else if (outcome == "busy" || outcome == "timed_out") {
        if (!proves_nothing(*each)) add("refused", each->called, each->ended);
      } else if (outcome == "released" || outcome == "was_lost" || outcome == "not_owner" || outcome == "unknown") {
        thread.depth = 0;
        if (outcome == "released") {
          add("released", each->called, each->ended);
          continue;
        }
        add("end", thread.granted, kNever);
        if (outcome != "unknown") add("was_lost", each->called, each->ended);
      }
    }
  }

  void add_forced(const Forced& each) {
    const std::string from = ref('b', history().forced, each);
    const bool ghost = in_ghost(each.called, each.ended, &each);
    if (each.answer == "yes" && !ghost) {
      steps_.push_back({"forced", 0, each.called, each.ended, 0, from});
    } else if (each.answer == "no") {
      if (!ghost) steps_.push_back({"found_free", 0, each.called, each.ended, 0, from});
    } else {
      steps_.push_back({"perhaps_forced", 0, each.called, each.answer == "yes" ? each.ended : kNever, 0, from});
    }
  }

  /// In the middle of a hold that surely stood, where nobody interferes with what he does not have.
  void cut(std::size_t size) {
    if (!others_.operations.empty()) return;  // who enters again has it for longer than his hold says
    std::size_t since = 0;
    for (std::size_t i = 0; i < name_.holds.size(); ++i) {
      const HeldOnce& hold = view_.hold(name_.holds[i]);
      const Microseconds middle = hold.granted + (hold.released - hold.granted) / 2;
      since += 2;
      if (since < size || hold.open || hold.shared || middle <= hold.granted || middle >= hold.released) continue;
      if (hold.outcome != "released" || hold.reason != "-" || excused(hold, hold.granted, hold.ended) != kNever)
        continue;
      if (std::ranges::any_of(others_.forced, [&](const Forced* each) { return touches(*each, middle); })) continue;
      if (!cuts_.empty() && cuts_.back().at >= middle) continue;
      cuts_.push_back({middle, owner_of(i)});
      since = 0;
    }
  }
  static bool touches(const Forced& forced, Microseconds time) {
    const bool open = forced.answer != "yes" && forced.answer != "no";
    return forced.called <= time && (open || time <= forced.ended);
  }

  void hand_over(const std::function<void(const Piece&)>& take) {
    std::vector<Piece> pieces(cuts_.size() + 1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].name = name_.name;
      pieces[i].holder = i == 0 ? 0 : cuts_[i - 1].holder;
    }
    std::unordered_map<long long, std::size_t> granted_in;  // by owner: the piece
    for (Step& step : steps_) {
      // The cuts that it spans are those from the first to, but not with, the last.
      const auto first = std::ranges::upper_bound(cuts_, step.called, {}, &Cut::at);
      const auto last = std::ranges::lower_bound(cuts_, step.ended, {}, &Cut::at);
      std::size_t piece = static_cast<std::size_t>(first - cuts_.begin());
      const std::size_t behind = static_cast<std::size_t>(last - cuts_.begin());
      const std::string_view kind = step.kind;
      if (first < last) {
        if (kind == "refused" || kind == "was_lost") continue;  // it was so at the cut
        if (kind == "granted") {                                // not before the cut, where somebody else had it
          piece = behind;
        } else {  // what he had ended before; but not before it was granted
          if (const auto granted = granted_in.find(step.owner); granted != granted_in.end()) {
            piece = std::max(piece, granted->second);
          }
          if (piece < behind) step.ended = cuts_[piece].at;
        }
      }
      if (kind == "granted") granted_in[step.owner] = piece;
      pieces[piece].steps.push_back(std::move(step));
    }
    for (const Piece& each : pieces) take(each);
  }

  const View& view_;
  const Story& story_;
  const View::Name& name_;
  const Others& others_;
  std::vector<const StruckFault*> faults_;  // under which it may be lost
  Ghosts ghosts_;
  std::unordered_map<Text, Ghosts> lines_;  // by client: the calls that wait
  std::vector<Step> steps_;
  std::vector<Cut> cuts_;
};

}  // namespace

void each_piece(const View& view, std::size_t steps, const std::function<void(const Piece&)>& take) {
  const History& history = view.story().history;
  std::unordered_map<Text, Others> others;
  for (const FailedCall& each : history.failures) {
    for (const Text name : names_of(each)) others[name].failures.push_back(&each);
  }
  for (const Operation& each : history.operations) others[each.name].operations.push_back(&each);
  for (const Forced& each : history.forced) others[each.name].forced.push_back(&each);
  for (const View::Name& name : view.names()) {
    if (view.story().permits.contains(name.name.str())) continue;  // no model of a semaphore
    NameSteps(view, name, others[name.name]).each_piece(steps, take);
  }
  for (const auto& [name, of_name] : others) {
    const auto has_holds = [&](const View::Name& each) { return each.name == name; };
    if (std::ranges::any_of(view.names(), has_holds) || view.story().permits.contains(name.str())) continue;
    NameSteps(view, {.name = name}, of_name).each_piece(steps, take);
  }
}

std::string describe(const View& view, const std::string& ref) {
  const History& history = view.story().history;
  const std::size_t place = ref.size() < 2 || ref == "?" ? 0 : std::stoul(ref.substr(1));
  const auto call = [&](Text client, Microseconds called, Microseconds ended, const std::string& what) {
    return client.str() + " called " + view.at(called) + ", ended " + view.at(ended) + ": " + what;
  };
  switch (ref.front()) {
    case 'h':
      return view.words(history.holds.at(place));
    case 'f': {
      const FailedCall& each = history.failures.at(place);
      return call(each.client, each.called, each.ended, "acquire " + each.cause.str());
    }
    case 'o': {
      const Operation& each = history.operations.at(place);
      return call(
          each.client, each.called, each.ended,
          (each.acquire ? "acquire " : "release ") + each.outcome.str() + " by thread " + std::to_string(each.thread));
    }
    case 'b': {
      const Forced& each = history.forced.at(place);
      return call(each.client, each.called, each.ended, "force " + each.answer.str());
    }
    default:
      return "a step that is not known";
  }
}

}  // namespace holdfast::test
