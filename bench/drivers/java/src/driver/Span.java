// SPDX-License-Identifier: Apache-2.0
package driver;

/** The time and the CPU of a piece of work. */
final class Span {
    private long beganNs;
    private long nanoseconds;
    private long cpuMicroseconds;

    private Span() {
    }

    static Span begin() {
        Span span = new Span();
        span.cpuMicroseconds = -Usage.cpuMicroseconds();
        span.beganNs = System.nanoTime();
        return span;
    }

    /** The work begins at a later moment only; the CPU counts from now. */
    static Span beginAt(long ns) {
        Span span = begin();
        span.beganNs = ns;
        return span;
    }

    Span end() {
        nanoseconds = System.nanoTime() - beganNs;
        cpuMicroseconds += Usage.cpuMicroseconds();
        return this;
    }

    long beganNs() {
        return beganNs;
    }

    double seconds() {
        return nanoseconds / 1e9;
    }

    long cpuMicroseconds() {
        return cpuMicroseconds;
    }
}
