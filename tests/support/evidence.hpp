// SPDX-License-Identifier: Apache-2.0
// Records for docs/evidence.md: one line of JSON for each run, which says first where it comes from. tools/origin.py
// writes the same for programs in Python.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::test {

/// The first fields of a record, without braces: part, commit, date, kernel, processors, and the server's name and
/// version where one takes part. The commit is HOLDFAST_COMMIT or what git says, with `+` behind it if the tree had
/// changes; `unknown` where there is no git.
std::string origin(std::string_view part, std::string_view server = {});

/// Asks now which commit this is, for all that this process and its children will record: for runs that take so long
/// that somebody may change the tree meanwhile.
void remember_commit();

/// Appends `{origin, figures}` as a line to HOLDFAST_EVIDENCE, or to build/results/evidence/PART.jsonl.
void append_evidence(std::string_view part, std::string_view figures, std::string_view server = {});

/// A text as JSON has it, with its quotes.
std::string json_text(std::string_view text);

}  // namespace holdfast::test
