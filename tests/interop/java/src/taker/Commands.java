// SPDX-License-Identifier: Apache-2.0
package taker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.redisson.api.RLock;

/** What the commands do with locks; runs on the thread that the command names. */
final class Commands {
    private static final long RENEWED = -1;

    private final Locks locks;
    private final BooleanSupplier cancelled;

    /** `cancelled` says whether the call that is carried out was. */
    Commands(Locks locks, BooleanSupplier cancelled) {
        this.locks = locks;
        this.cancelled = cancelled;
    }

    String carryOut(Call call) throws Exception {
        switch (call.verb()) {
            case "lock":
                locks.get(call.argument(1)).lockInterruptibly(lease(call, 2), TimeUnit.MILLISECONDS);
                return "";
            case "try":
                return Session.yesOrNo(tryLock(call));
            case "unlock":
                return unlock(call);
            case "force":
                return Session.yesOrNo(locks.get(call.argument(0)).forceUnlock());
            case "locked":
                return Session.yesOrNo(locks.get(call.argument(0)).isLocked());
            case "ttl":
                return remaining(call.argument(0));
            case "mine":
                return Session.yesOrNo(locks.isMine(call.argument(1)));
            case "count":
                return Integer.toString(locks.get(call.argument(1)).getHoldCount());
            case "counting":
                return new Counting(locks.client(), call).carryOut(call.argument(1));
            case "increment":
                for (long i = 0; i < call.number(3); i++) {
                    increment(call);
                }
                return call.argument(3);
            case "increment_for":
                return Long.toString(incrementFor(call));
            case "compare_for":
                return compareFor(call);
            case "hold_for":
                return Long.toString(new Rounds(locks, call, cancelled)
                        .run(Path.of(call.argument(2)), call.number(3), Path.of(call.argument(4))));
            default:
                throw new IllegalArgumentException("no such command: " + call.verb());
        }
    }

    /** Zero on the wire of the taker, and -1 with Redisson, mean a lease that is renewed. */
    private static long lease(Call call, int i) {
        long lease = call.number(i, 0);
        return lease == 0 ? RENEWED : lease;
    }

    private boolean tryLock(Call call) throws InterruptedException {
        // -1 asks once; with 0, the multi locks of 3.14 and 3.16 never succeed: they find their time over.
        long wait = call.number(2) == 0 ? -1 : call.number(2);
        return locks.get(call.argument(1)).tryLock(wait, lease(call, 3), TimeUnit.MILLISECONDS);
    }

    private String unlock(Call call) {
        RLock lock = locks.get(call.argument(1));
        lock.unlock();
        call.end();
        return locks.canCount() && lock.getHoldCount() > 0 ? "still_held" : "released";
    }

    private String remaining(String name) {
        long remaining = locks.get(name).remainTimeToLive();
        return remaining == -2 ? "none" : Long.toString(remaining);
    }

    private long incrementFor(Call call) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(call.number(3));
        long done = 0;
        for (; System.nanoTime() < end; done++) {
            increment(call);
        }
        return done;
    }

    /** Read, wait a little, write back: loses updates unless the lock excludes everybody else. */
    private void increment(Call call) throws IOException, InterruptedException {
        RLock lock = locks.get(call.argument(1));
        Path file = Path.of(call.argument(2));
        lock.lock();
        try {
            long value = read(file);
            Thread.sleep(call.number(4, 0));
            Files.writeString(file, value + 1 + "\n");
        } finally {
            lock.unlock();
        }
    }

    /** How often it read the number twice under the lock, and how often the two differed. */
    private String compareFor(Call call) throws IOException, InterruptedException {
        RLock lock = locks.get(call.argument(1));
        Path file = Path.of(call.argument(2));
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(call.number(3));
        long compared = 0;
        long torn = 0;
        for (; System.nanoTime() < end; compared++) {
            lock.lock();
            try {
                long before = read(file);
                Thread.sleep(call.number(4, 0));
                torn += read(file) == before ? 0 : 1;
            } finally {
                lock.unlock();
            }
            Thread.sleep(call.number(5, 0));
        }
        return compared + "/" + torn;
    }

    /** A file that is missing, or just being written by somebody else, counts as 0. */
    private static long read(Path file) throws IOException {
        String text = Files.exists(file) ? Files.readString(file).trim() : "";
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }
}
