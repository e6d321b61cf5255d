// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** What the command `counting` does with semaphores and latches: THREAD WHAT NAME NUMBER MILLISECONDS. */
final class Counting {
    private static final Map<String, String> PERMITS = new ConcurrentHashMap<>();

    private final RedissonClient client;
    private final String thread;
    private final String name;
    private final int number;
    private final long time;

    Counting(RedissonClient client, Call call) {
        this.client = client;
        thread = call.argument(0);
        name = call.argument(2);
        number = (int) call.number(3);
        time = call.number(4);
    }

    String carryOut(String what) throws InterruptedException {
        String verb = what.substring(what.indexOf('.') + 1);
        switch (what.substring(0, what.indexOf('.'))) {
            case "semaphore":
                return semaphore(client.getSemaphore(name), verb);
            case "leased":
                return leased(client.getPermitExpirableSemaphore(name), verb);
            case "latch":
                return latch(client.getCountDownLatch(name), verb);
            default:
                throw new IllegalArgumentException("no such kind: " + what);
        }
    }

    private String semaphore(RSemaphore semaphore, String verb) throws InterruptedException {
        switch (verb) {
            case "set":
                return Session.yesOrNo(semaphore.trySetPermits(number));
            case "add":
                semaphore.addPermits(number);
                return "";
            case "available":
                return Integer.toString(semaphore.availablePermits());
            case "remove":
                return Session.yesOrNo(semaphore.delete());
            case "drain":
                return Integer.toString(semaphore.drainPermits());
            case "try":
                return Session.yesOrNo(semaphore.tryAcquire(number, time, TimeUnit.MILLISECONDS));
            case "acquire":
                semaphore.acquire(number);
                return "";
            case "release":
                semaphore.release(number);
                return "";
            default:
                return cycle(() -> semaphore.acquire(number), () -> semaphore.release(number));
        }
    }

    /** With NUMBER as the lease in ms, 0: without an end. */
    private String leased(RPermitExpirableSemaphore semaphore, String verb) throws InterruptedException {
        long lease = number == 0 ? -1 : number;
        switch (verb) {
            case "set":
                return Session.yesOrNo(semaphore.trySetPermits(number));
            case "add":
                semaphore.addPermits(number);
                return "";
            case "available":
                return Integer.toString(semaphore.availablePermits());
            case "remove":
                return Session.yesOrNo(semaphore.delete());
            case "acquire":
                return keep(semaphore.acquire(lease, TimeUnit.MILLISECONDS));
            case "try":
                String id = semaphore.tryAcquire(time, lease, TimeUnit.MILLISECONDS);
                return id == null ? "no" : keep(id);
            case "release":
                return semaphore.tryRelease(PERMITS.remove(thread + name)) ? "released" : "was_lost";
            default:
                return cycle(() -> keep(semaphore.acquire(20_000, TimeUnit.MILLISECONDS)),
                        () -> semaphore.release(PERMITS.remove(thread + name)));
        }
    }

    private String keep(String id) {
        PERMITS.put(thread + name, id);
        return id;
    }

    private String latch(RCountDownLatch latch, String verb) throws InterruptedException {
        switch (verb) {
            case "set":
                return Session.yesOrNo(latch.trySetCount(number));
            case "count_down":
                for (int i = 0; i < number; i++) {
                    latch.countDown();
                }
                return "";
            case "count":
                return Long.toString(latch.getCount());
            case "wait":
                return Session.yesOrNo(latch.await(time, TimeUnit.MILLISECONDS));
            default:
                throw new IllegalArgumentException("no such verb: " + verb);
        }
    }

    /** A step that may wait. */
    private interface Step {
        void run() throws InterruptedException;
    }

    /** How often it took and gave back in the time. */
    private String cycle(Step take, Step giveBack) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(time);
        long rounds = 0;
        for (; System.nanoTime() < end; rounds++) {
            take.run();
            Thread.sleep(1);
            giveBack.run();
        }
        return Long.toString(rounds);
    }
}
