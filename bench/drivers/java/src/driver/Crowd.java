// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.redisson.api.RLock;

/**
 * Waiters without a thread: each is a call of lockAsync with an id of its own in place of a thread's.
 *
 * <p>Redisson does not tell who waits. A waiter tries, subscribes, tries again and then waits, so all wait when the
 * server has seen two failed tries of each. No other process may try for a lock there meanwhile, and all must wait
 * before the first tries again, which is after 2/3 of the lease at the soonest. (The last result still has to reach the
 * client then; the reading of memory that follows leaves a second for that.) The waiters start in portions: commands
 * that queue for the pool's connections longer than their timeout would fail.
 */
final class Crowd {
    private static final int PORTION = 1024;
    private static final int TRIES_BEFORE_WAITING = 2;
    private static final long FIRST_ID = 1_000_000_000;
    private static final long PATIENCE_NS = 30_000_000_000L;

    private final Clients clients;
    private final FirstCaller owner;
    private final List<RLock> held = new ArrayList<>();
    private final AtomicLong grants = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private CountDownLatch through;

    Crowd(Clients clients, FirstCaller owner) {
        this.clients = clients;
        this.owner = owner;
    }

    Answer gather(Command command) throws Exception {
        int waiters = command.count("waiters");
        int locks = command.count("locks");
        String prefix = command.text("keys") + ":";
        if (!held.isEmpty()) {
            throw new IllegalStateException("there is a crowd already");
        }
        RLock[][] handles = handles(locks, prefix);
        through = new CountDownLatch(waiters);
        grants.set(0);
        failure.set(null);
        long before;
        Span span;
        try {
            take(locks, prefix);
            before = Usage.residentBytesCollected();
            span = Span.begin();
            for (int first = 0; first < waiters; first += PORTION) {
                int end = Math.min(first + PORTION, waiters);
                long goal = clients.failedTries() + (long) TRIES_BEFORE_WAITING * (end - first);
                for (int i = first; i < end; i++) {
                    start(handles[i % clients.count()][i % locks], FIRST_ID + i);
                }
                awaitTries(goal);
            }
            span.end();
        } catch (Exception error) {
            release();
            throw error;
        }
        return new Answer().with("waiting", waiters).with("seconds", span.seconds())
                .with("rss_before_bytes", before).with("rss_after_bytes", Usage.residentBytesCollected());
    }

    Answer go() throws Exception {
        if (held.isEmpty()) {
            throw new IllegalStateException("there is no crowd");
        }
        Span span = Span.begin();
        release();
        through.await();
        span.end();
        throwFailure();
        return new Answer().with("grants", grants.get()).with(span);
    }

    private void take(int locks, String prefix) throws Exception {
        owner.call(() -> {
            for (int j = 0; j < locks; j++) {
                RLock lock = owner.lock(prefix + j);
                lock.lock();
                held.add(lock);
            }
            return null;
        });
    }

    private void release() throws Exception {
        owner.call(() -> {
            List<CompletableFuture<Void>> releases = new ArrayList<>();
            for (RLock lock : held) {
                releases.add(lock.unlockAsync().toCompletableFuture());
            }
            held.clear();
            CompletableFuture.allOf(releases.toArray(new CompletableFuture<?>[0])).get();
            return null;
        });
    }

    /** One object for each lock of each client: it does not matter how many waiters share it. */
    private RLock[][] handles(int locks, String prefix) {
        RLock[][] handles = new RLock[clients.count()][locks];
        for (int k = 0; k < handles.length; k++) {
            for (int j = 0; j < locks; j++) {
                handles[k][j] = clients.lock(k, prefix + j);
            }
        }
        return handles;
    }

    private void start(RLock lock, long id) {
        lock.lockAsync(id).thenCompose(nothing -> {
            grants.incrementAndGet();
            return lock.unlockAsync(id);
        }).whenComplete((nothing, error) -> {
            if (error != null) {
                failure.compareAndSet(null, error);
            }
            through.countDown();
        });
    }

    private void awaitTries(long goal) throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (clients.failedTries() < goal) {
            throwFailure();
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("some waiters do not wait");
            }
            Thread.sleep(1);
        }
        throwFailure();
    }

    private void throwFailure() throws Exception {
        if (failure.get() != null) {
            throw new Exception("a waiter failed", failure.get());
        }
    }
}
