// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.concurrent.TimeUnit;

import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * The kinds of what can be taken, as bench/README.md has them. Locks are renewed by the watchdog, as when no lease is
 * given. Permits with a lease are not, since Redisson has nothing that does it: theirs is 30 s.
 */
final class Lockers {
    private static final long RENEWED = -1;
    private static final long PERMIT_LEASE_S = 30;
    private static final int READS_OF_ONE_WRITE = 19;

    private Lockers() {
    }

    /** What the command says by kind=K and of=N; without them, a plain lock. Throws UnsupportedOperationException. */
    static Locker of(Clients clients, int caller, Command command, String key) {
        RedissonClient client = clients.get(caller);
        switch (command.has("kind") ? command.text("kind") : "lock") {
            case "lock":
                return of(client.getLock(key));
            case "fenced":
                return of(client.getFencedLock(key));
            case "fair":
                return of(client.getFairLock(key));
            case "spin":
                return of(client.getSpinLock(key));
            case "read":
                return of(client.getReadWriteLock(key).readLock());
            case "write":
                return of(client.getReadWriteLock(key).writeLock());
            case "mixed":
                return mixed(client.getReadWriteLock(key), caller);
            case "semaphore":
                return of(client.getSemaphore(key), command.count("of"));
            case "leased":
                return of(client.getPermitExpirableSemaphore(key), command.count("of"));
            default:
                throw new UnsupportedOperationException("it has no such kind");
        }
    }

    private static Locker of(RLock lock) {
        return new Locker() {
            @Override
            public void take() {
                lock.lock();
            }

            @Override
            public boolean takeUntil(long endNs) throws InterruptedException {
                return lock.tryLock(endNs - System.nanoTime(), RENEWED, TimeUnit.NANOSECONDS);
            }

            @Override
            public void release() {
                lock.unlock();
            }
        };
    }

    /** Reads 19 times of 20, and writes once; callers begin at different times of these. */
    private static Locker mixed(RReadWriteLock lock, int caller) {
        Locker reader = of(lock.readLock());
        Locker writer = of(lock.writeLock());
        return new Locker() {
            private int turn = caller;
            private Locker current;

            @Override
            public void take() throws InterruptedException {
                next().take();
            }

            @Override
            public boolean takeUntil(long endNs) throws InterruptedException {
                return next().takeUntil(endNs);
            }

            @Override
            public void release() {
                current.release();
            }

            private Locker next() {
                turn++;
                current = turn % (READS_OF_ONE_WRITE + 1) == 0 ? writer : reader;
                return current;
            }
        };
    }

    private static Locker of(RSemaphore semaphore, int permits) {
        semaphore.trySetPermits(permits);
        return new Locker() {
            @Override
            public void take() throws InterruptedException {
                semaphore.acquire();
            }

            @Override
            public boolean takeUntil(long endNs) throws InterruptedException {
                return semaphore.tryAcquire(1, endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            }

            @Override
            public void release() {
                semaphore.release();
            }
        };
    }

    private static Locker of(RPermitExpirableSemaphore semaphore, int permits) {
        semaphore.trySetPermits(permits);
        return new Locker() {
            private String id;

            @Override
            public void take() throws InterruptedException {
                id = semaphore.acquire(PERMIT_LEASE_S, TimeUnit.SECONDS);
            }

            @Override
            public boolean takeUntil(long endNs) throws InterruptedException {
                long waitMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
                id = semaphore.tryAcquire(waitMs, TimeUnit.SECONDS.toMillis(PERMIT_LEASE_S), TimeUnit.MILLISECONDS);
                return id != null;
            }

            @Override
            public void release() {
                semaphore.release(id);
            }
        };
    }
}
