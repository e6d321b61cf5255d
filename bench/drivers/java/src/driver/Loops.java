// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The commands in which callers repeat take and release for a while: `pairs` and `hot`. */
final class Loops {
    private final Clients clients;

    Loops(Clients clients) {
        this.clients = clients;
    }

    Answer pairs(Command command) throws Exception {
        int threads = command.count("threads");
        long lengthNs = command.duration("seconds", 1_000_000_000);
        long pauseNs = command.has("pause_us") ? command.duration("pause_us", 1000) : 0;
        String prefix = command.text("keys") + ":";
        Samples[] samples = Samples.forEach(threads);
        Locker[] lockers = new Locker[threads];
        Arrays.setAll(lockers, i -> Lockers.of(clients, i, command, prefix + i));
        Span span;
        try (Callers callers = new Callers(threads)) {
            span = callers.run((caller, beginNs) ->
                    pairs(lockers[caller], beginNs + lengthNs, pauseNs, samples[caller]));
        }
        long pairs = 0;
        for (Samples caller : samples) {
            pairs += caller.count();
        }
        Answer answer = new Answer().with("pairs", pairs).with(span);
        Samples.summarize(samples, "", answer);
        return answer;
    }

    private static void pairs(Locker locker, long endNs, long pauseNs, Samples samples) throws InterruptedException {
        for (long began = System.nanoTime(); began < endNs;) {
            locker.take();
            locker.release();
            long ended = System.nanoTime();
            samples.add(ended - began);
            began = ended;
            if (pauseNs > 0) {
                TimeUnit.NANOSECONDS.sleep(pauseNs);
                began = System.nanoTime();
            }
        }
    }

    Answer hot(Command command) throws Exception {
        int threads = command.count("threads");
        long lengthNs = command.duration("seconds", 1_000_000_000);
        long insideNs = command.duration("inside_us", 1000);
        String key = command.text("key");
        Long startNs = command.has("start_ns") ? Long.valueOf(command.nanoseconds("start_ns")) : null;
        Samples[] waits = Samples.forEach(threads);
        int[] served = new int[threads];
        Locker[] lockers = new Locker[threads];
        Arrays.setAll(lockers, i -> Lockers.of(clients, i, command, key));
        Entries[] entries = new Entries[threads];
        Arrays.setAll(entries, i -> new Entries(command.has("entries")));
        Span span;
        try (Callers callers = new Callers(threads)) {
            span = callers.run((caller, beginNs) -> served[caller] =
                    hot(lockers[caller], beginNs + lengthNs, insideNs, waits[caller], entries[caller]), startNs);
        }
        long sections = 0;
        for (int caller : served) {
            sections += caller;
        }
        Answer answer = new Answer().with("sections", sections).with("served", served).with(span);
        Samples.summarize(waits, "wait_", answer);
        Entries.tell(entries, answer);
        return answer;
    }

    /** Returns how many sections this caller had. A take that fails has waited to the end. */
    private static int hot(Locker locker, long endNs, long insideNs, Samples waits, Entries entries)
            throws InterruptedException {
        int sections = 0;
        for (long asked = System.nanoTime(); asked < endNs; asked = System.nanoTime()) {
            boolean taken = locker.takeUntil(endNs);
            long returned = System.nanoTime();
            waits.add(returned - asked);
            if (!taken) {
                break;
            }
            entries.add(asked, returned);
            while (System.nanoTime() - returned < insideNs) {
                Thread.onSpinWait();
            }
            locker.release();
            sections++;
        }
        return sections;
    }
}
