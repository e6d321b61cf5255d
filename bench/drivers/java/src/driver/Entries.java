// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.List;

/** When one caller asked and entered, in the order of its entries: only kept where the command wants it. */
final class Entries {
    private final boolean kept;
    private final List<Long> asked = new ArrayList<>();
    private final List<Long> entered = new ArrayList<>();

    Entries(boolean kept) {
        this.kept = kept;
    }

    void add(long askedNs, long enteredNs) {
        if (kept) {
            asked.add(askedNs);
            entered.add(enteredNs);
        }
    }

    /** Adds asked_ns and entered_ns of all callers. */
    static void tell(Entries[] callers, Answer answer) {
        List<Long> asked = new ArrayList<>();
        List<Long> entered = new ArrayList<>();
        for (Entries caller : callers) {
            if (!caller.kept) {
                return;
            }
            asked.addAll(caller.asked);
            entered.addAll(caller.entered);
        }
        answer.with("asked_ns", asked).with("entered_ns", entered);
    }
}
