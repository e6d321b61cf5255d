package driver;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.redisson.api.RLock;

/** One thread that takes locks in one command and releases them in another: an RLock belongs to a thread. */
final class FirstCaller {
    private final Clients clients;
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
        RLock lock = lock(command.text("key"));
        long waitNs = command.duration("wait_s", 1_000_000_000);
        return call(() -> {
            boolean taken = lock.tryLock(waitNs, TimeUnit.NANOSECONDS);
            long at = System.nanoTime();
            return new Answer().with("taken", taken).with("at_ns", at);
        });
    }

    Answer release(Command command) throws Exception {
        RLock lock = lock(command.text("key"));
        return call(() -> {
            long before = System.nanoTime();
            lock.unlock();
            long after = System.nanoTime();
            return new Answer().with("before_ns", before).with("after_ns", after);
        });
    }
}
