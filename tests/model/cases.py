# SPDX-License-Identifier: Apache-2.0
"""What `run` searches: the models, each with the library's code that runs in it, and their mutants. A mutant is one of
the model (a definition that its file knows) or one of the code that runs in it (a change of a source)."""
import dataclasses


@dataclasses.dataclass
class Change:
    file: str
    old: str
    new: str


@dataclasses.dataclass
class Case:
    model: str
    sources: list
    defines: list = dataclasses.field(default_factory=list)
    mutant: str = ""
    changes: list = dataclasses.field(default_factory=list)
    liveness: bool = False

    @property
    def name(self):
        return f"{self.model}.{self.mutant}" if self.mutant else self.model

    def is_called(self, name):
        return name in (self.name, f"{self.model}.all")


def model(name, sources, defines=(), in_model=(), in_code=None):
    plain = Case(name, list(sources), list(defines))
    mutants = [
        dataclasses.replace(plain, mutant=each, defines=[*defines, f"MUTANT_{each.upper()}"]) for each in in_model
    ]
    for mutant, changes in (in_code or {}).items():
        mutants.append(dataclasses.replace(plain, mutant=mutant, changes=[Change(*each) for each in changes]))
    return [plain, *mutants]


HOLD_FSM = "lock/decide/hold_fsm.cpp"
COMMIT = "lock/decide/group_commit.cpp"
ACQUIRE = "lock/decide/acquire_fsm.cpp"
TENURE = "lock/decide/tenure.cpp"
LEASE = "lock/decide/lease.hpp"
TEXT = ["base/text.cpp"]

CASES = [
    *model(
        "hold",
        [HOLD_FSM, "lock/decide/release_fsm.cpp"],
        in_model=["lease_from_reply", "late_grant", "renewal_takes", "old_connection_lives"],
        in_code={
            "no_margin": [(LEASE, "sent_at + lease - margin(lease)", "sent_at + lease")],
            "deadline_unseen": [
                (
                    HOLD_FSM,
                    "  if (now >= deadline()) return lose(why_expired());\n  if (sent_at >= last_extension_) {",
                    "  if (sent_at >= last_extension_) {",
                )
            ],
            "comes_back": [
                (
                    HOLD_FSM,
                    "  if (ended()) return Change::none;\n  if (now >= deadline()) return lose(why_expired());\n"
                    "  if (sent_at",
                    "  if (sent_at",
                )
            ],
            "unanswered_extends": [(HOLD_FSM, "  planned_ = std::min(now + retry_after(length_), deadline());",
                                    "  extend(now);")],
            "stays_suspect": [
                (HOLD_FSM, "  }\n  state_ = HoldState::held;\n  return Change::none;", "  }\n  return Change::none;")
            ],
            "deadline_not_due": [(HOLD_FSM, "  planned_ = std::min(now + retry_after(length_), deadline());",
                                  "  planned_ = now + retry_after(length_);"),
                                 ("lock/decide/hold_fsm.hpp", "return std::min(planned_, deadline());",
                                  "return planned_;")],
            "release_for_ever": [("lock/decide/release_fsm.cpp", "  if (now >= give_up_) return finish",
                                  "  if (now >= give_up_ + milliseconds(60)) return finish")],
        },
    ),
    *model(
        "extension",
        [HOLD_FSM],
        in_model=["old_connection_lives", "counted_from_the_answer"],
        in_code={
            "answer_overtakes": [(HOLD_FSM, "is_last ? extension.length : std::min(extension.length, shortest_)",
                                  "extension.length")],
            "given_up_is_forgotten": [(HOLD_FSM, "under_way_ == 0 && extension.number == begun_", "under_way_ == 0")],
            "begin_counts_for_nothing": [
                (
                    HOLD_FSM,
                    "    length_ = length;\n    extend(now);\n",
                    "",
                )
            ],
        },
    ),
    *model(
        "quorum",
        [HOLD_FSM, "lock/decide/ballot.cpp", "base/error.cpp", *TEXT],
        in_model=[
            "healing_counts",
            "healing_stays",
            "undo_forgotten",
            "one_owner",
            "restarts_at_once",
        ],
        in_code={
            "minority": [("lock/decide/ballot.hpp", "return {n, n / 2 + 1};", "return {n, n / 2};")],
            "unknown_is_no": [("lock/decide/attempt.hpp", "return kind == Kind::granted || kind == Kind::unknown || ",
                               "return kind == Kind::granted || ")],
        },
    ),
    *model(
        "failover",
        [HOLD_FSM, COMMIT, "lock/decide/recent_releases.cpp", "base/error.cpp", *TEXT],
        in_model=["no_acks", "era_forgotten", "release_not_repeated"],
        in_code={
            "connected_is_all": [("lock/decide/group_commit.hpp", "return std::max(*configured_, connected_);",
                                  "return connected_;")],
            "interrupted_is_acked": [
                (
                    COMMIT,
                    "  if (reply.refused.error) return decide(confirm, reply.refused.error, reply.refused.cause, "
                    "reply.refused.for_good);\n  if (reply.resent)",
                    "  if (reply.refused.error) confirm.decided = confirm.found.acked = true;\n"
                    "  if (reply.refused.error) return;\n  if (reply.resent)",
                )
            ],
            "one_ack_is_enough": [(COMMIT, "confirm.found.acked = acks >= needed;",
                                   "confirm.found.acked = acks >= 1 && needed > 0;")],
            "unacked_renewal_counts": [
                (
                    COMMIT,
                    "  miss(confirm, now,\n       std::to_string(acks)",
                    "  confirm.found.acked = true;\n  miss(confirm, now,\n       std::to_string(acks)",
                )
            ],
        },
    ),
    *model(
        "wake",
        [],
        in_model=["sleeps_unsaid", "set_in_two_steps", "added_while_waking_forgotten", "woken_unsent",
                  "says_so_behind_the_look"],
    ),
    *model(
        "acquire",
        [ACQUIRE, "base/error.cpp", *TEXT],
        in_model=["missed_is_forgotten"],
        in_code={
            "no_safety_poll": [(ACQUIRE, "half_by_chance(pause, terms_.jitter));", "std::chrono::hours(1));")],
            "lease_end_unseen": [(ACQUIRE, "  if (free <= poll) return wait_until(free, Bound::lease_end);\n", "")],
            "message_is_no_reason_to_ask": [
                (
                    ACQUIRE,
                    "  return wait_until(now + delay, Bound::spread);\n}\n\nAcquireAction AcquireFsm::on_time",
                    "  return wait_free(now, TimePoint::max());\n}\n\nAcquireAction AcquireFsm::on_time",
                )
            ],
            "unknown_is_no": [(ACQUIRE, "    case Kind::unknown:\n      unresolved_ = true;\n", "    case Kind::unknown:\n")],
            "limit_forgotten": [(ACQUIRE, ".until = std::min(until, limit())}", ".until = until}")],
            "far_back_for_ever": [(ACQUIRE, "  const Duration before = near() * step(strangers) + pause;",
                                   "  const Duration before = 4 * kLongest;")],
            "busy_for_ever": [("lock/decide/acquire_fsm.hpp", "return wait_free(now, view.busy_until);",
                               "return wait_free(now, TimePoint::max());")],
        },
    ),
    *model(
        "fair",
        [],
        in_model=["dead_head_stays", "turn_never_begins", "place_is_not_kept", "joins_in_front", "leaves_without_a_word"],
    ),
    *model(
        "read_write",
        [],
        in_model=["enters_beside_a_writer", "enters_beside_readers", "reader_cuts", "renewal_cuts", "reader_frees_for_all",
                  "downgrade_without_a_hold"],
    ),
    *model(
        "handoff",
        [TENURE],
        in_model=["wake_forgotten", "ask_again_ignored"],
        in_code={
            "pass_on_for_ever": [
                ("lock/decide/tenure.hpp", "return now < began_ + limit_;", "return now >= began_;")
            ],
            "no_pause": [(TENURE, "  pause_until_ = now + pause_;\n", "")],
            "every_message_is_own": [("lock/decide/tenure.hpp",
                                      "!any() && unclaimed_ > 0 && !released", "false"),
                                     ("lock/decide/tenure.hpp",
                                      "if (unclaimed_ >= under_way_ * each) return false;", "")],
        },
    ),
]
