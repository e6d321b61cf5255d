// SPDX-License-Identifier: Apache-2.0
package driver;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

import com.sun.management.OperatingSystemMXBean;

/** What this process uses. */
final class Usage {
    /** G1 gives memory back to the system in the background, in a few tenths of a second after a collection. */
    private static final long GIVING_BACK_MS = 1000;

    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private Usage() {
    }

    static long cpuMicroseconds() {
        return SYSTEM.getProcessCpuTime() / 1000;
    }

    static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }

    /** Without what is only garbage. */
    static long residentBytesCollected() throws IOException, InterruptedException {
        System.gc();
        Thread.sleep(GIVING_BACK_MS);
        return residentBytes();
    }
}
