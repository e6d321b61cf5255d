// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.redisson.api.RLock;

/** One thread that takes locks in one command and releases them in another: an RLock belongs to a thread. */
final class FirstCaller {
    private final Clients clients;
    private final Map<String, Locker> taken = new HashMap<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    FirstCaller(Clients clients) {
        this.clients = clients;
    }

    RLock lock(String name) {
        return clients.lock(0, name);
    }

    <T> T call(Callable<T> work) throws Exception {
        return thread.submit(work).get();
    }

    Answer take(Command command) throws Exception {
        String key = command.text("key");
        long waitNs = command.duration("wait_s", 1_000_000_000);
        return call(() -> {
            Locker locker = taken.computeIfAbsent(key, name -> Lockers.of(clients, 0, command, name));
            boolean mine = locker.takeUntil(System.nanoTime() + waitNs);
            long at = System.nanoTime();
            return new Answer().with("taken", mine).with("at_ns", at);
        });
    }

    Answer release(Command command) throws Exception {
        String key = command.text("key");
        return call(() -> {
            Locker locker = taken.get(key);
            long before = System.nanoTime();
            locker.release();
            long after = System.nanoTime();
            return new Answer().with("before_ns", before).with("after_ns", after);
        });
    }
}
