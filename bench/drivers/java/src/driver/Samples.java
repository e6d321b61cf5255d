// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The durations that one caller measured, in nanoseconds. Grows by pieces, so that no growth copies anything. */
final class Samples {
    private static final int PIECE = 1 << 14;

    private final List<long[]> full = new ArrayList<>();
    private long[] piece = new long[PIECE];
    private int used;

    static Samples[] forEach(int callers) {
        Samples[] samples = new Samples[callers];
        Arrays.setAll(samples, i -> new Samples());
        return samples;
    }

    void add(long ns) {
        if (used == PIECE) {
            full.add(piece);
            piece = new long[PIECE];
            used = 0;
        }
        piece[used++] = ns;
    }

    int count() {
        return full.size() * PIECE + used;
    }

    /** Adds prefix + p50_us, p99_us and max_us of all callers; with no sample at all, zeros. */
    static void summarize(Samples[] callers, String prefix, Answer answer) {
        long[] all = merged(callers);
        answer.with(prefix + "p50_us", microseconds(all, 0.5));
        answer.with(prefix + "p99_us", microseconds(all, 0.99));
        answer.with(prefix + "max_us", microseconds(all, 1));
    }

    private static long[] merged(Samples[] callers) {
        long[] all = new long[Arrays.stream(callers).mapToInt(Samples::count).sum()];
        int at = 0;
        for (Samples caller : callers) {
            for (long[] piece : caller.full) {
                System.arraycopy(piece, 0, all, at, PIECE);
                at += PIECE;
            }
            System.arraycopy(caller.piece, 0, all, at, caller.used);
            at += caller.used;
        }
        Arrays.sort(all);
        return all;
    }

    /** The least sample that this share of the samples does not exceed. */
    private static double microseconds(long[] sorted, double share) {
        if (sorted.length == 0) {
            return 0;
        }
        return sorted[(int) Math.ceil(share * sorted.length) - 1] / 1000.0;
    }
}
