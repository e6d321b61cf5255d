// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** So many platform threads that do the same work at the same time. */
final class Callers implements AutoCloseable {
    /** The work of one caller, from the moment when all begin. */
    interface Work {
        void run(int caller, long beginNs) throws Exception;
    }

    private final int count;
    private final ExecutorService threads;

    Callers(int count) {
        this.count = count;
        threads = Executors.newFixedThreadPool(count);
    }

    /** Begins when every thread is there. */
    Span run(Work work) throws InterruptedException, ExecutionException {
        return run(work, null);
    }

    /** Begins at this moment, or with null when every thread is there. */
    Span run(Work work, Long startNs) throws InterruptedException, ExecutionException {
        CountDownLatch there = new CountDownLatch(count);
        CompletableFuture<Long> begin = new CompletableFuture<>();
        List<Future<Void>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int caller = i;
            all.add(threads.submit(() -> {
                there.countDown();
                long beginNs = begin.get();
                sleepUntil(beginNs);
                work.run(caller, beginNs);
                return null;
            }));
        }
        there.await();
        Span span = startNs == null ? Span.begin() : Span.beginAt(startNs);
        begin.complete(span.beganNs());
        awaitEnd(all);
        span.end();
        for (Future<Void> one : all) {
            one.get();
        }
        return span;
    }

    /** The threads go as soon as they have nothing to do. */
    @Override
    public void close() {
        threads.shutdown();
    }

    /** Of those that fail, too: nobody goes on when the command is answered. */
    private static void awaitEnd(List<Future<Void>> all) throws InterruptedException {
        for (Future<Void> one : all) {
            try {
                one.get();
            } catch (ExecutionException failed) {
                continue;
            }
        }
    }

    private static void sleepUntil(long ns) throws InterruptedException {
        for (long left = ns - System.nanoTime(); left > 0; left = ns - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
    }
}
