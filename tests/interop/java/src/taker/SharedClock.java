// SPDX-License-Identifier: Apache-2.0
package taker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The clock of records, CLOCK_BOOTTIME, which Java does not offer: it counts the time that the machine was suspended. */
final class SharedClock {
    private static final long SUSPENDED = suspended();

    private SharedClock() {
    }

    /** In microseconds. */
    static long now() {
        return Call.now() + SUSPENDED;
    }

    /** By how much it is ahead of the monotonic clock. */
    private static long suspended() {
        try {
            // The system says it in hundredths of a second: right after it has moved on, that is exact.
            String first = uptime();
            String next = first;
            while (next.equals(first)) {
                next = uptime();
            }
            long ahead = Math.round(Double.parseDouble(next) * 1e6) - Call.now();
            return Math.abs(ahead) < 20_000 ? 0 : ahead;
        } catch (IOException none) {
            return 0;
        }
    }

    private static String uptime() throws IOException {
        String text = Files.readString(Path.of("/proc/uptime"));
        return text.substring(0, text.indexOf(' '));
    }
}
