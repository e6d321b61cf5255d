// SPDX-License-Identifier: Apache-2.0
package taker;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.redisson.api.RLock;

/** `hold_for`: increments under a lock, with a line in a record for each hold. */
final class Rounds {
    private static final int WIDTH = 20;

    private final RLock lock;
    private final String name;
    private final String owner;
    private final long pause;
    private final long wait;
    private final BooleanSupplier stopped;

    Rounds(Locks locks, Call call, BooleanSupplier stopped) {
        name = call.argument(1);
        lock = locks.get(name);
        owner = locks.id() + ":" + Thread.currentThread().getId();
        pause = call.number(5, 0);
        wait = call.number(6, 30000);
        this.stopped = stopped;
    }

    /** How many numbers were written. */
    long run(Path file, long milliseconds, Path record) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        long written = 0;
        try (FileChannel numbers = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
                BufferedWriter out = Files.newBufferedWriter(record, StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND)) {
            while (System.nanoTime() < end && !stopped.getAsBoolean()) {
                written += round(numbers, out) ? 1 : 0;
                out.flush();
            }
        }
        return written;
    }

    /** True if a number was written. */
    private boolean round(FileChannel numbers, BufferedWriter out) throws IOException, InterruptedException {
        long called = SharedClock.now();
        String failure = enter();
        long granted = SharedClock.now();
        if (failure != null) {
            write(out, "fail", name, called, granted, failure);
            Thread.sleep(10);
            return false;
        }
        long value = read(numbers);
        Thread.sleep(pause);
        numbers.write(StandardCharsets.US_ASCII.encode(String.format("%0" + (WIDTH - 1) + "d%n", value + 1)), 0);
        long released = SharedClock.now();
        String outcome = leave();
        write(out, "hold", name, owner, called, granted, 0, 0, released, SharedClock.now(), outcome, "-", value + 1);
        return true;
    }

    /** Null, or what went wrong. */
    private String enter() throws InterruptedException {
        try {
            return lock.tryLock(wait, TimeUnit.MILLISECONDS) ? null : "timed_out";
        } catch (RuntimeException error) {
            Throwable root = error;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            // Numbers are ports and times: without them, what happens often is the same text.
            String message = String.valueOf(root.getMessage()).replaceAll("[0-9]+", "0");
            return root.getClass().getSimpleName() + ": " + message.substring(0, Math.min(message.length(), 90));
        }
    }

    private String leave() {
        try {
            lock.unlock();
            return "released";
        } catch (IllegalMonitorStateException error) {
            return "was_lost";
        } catch (RuntimeException error) {
            return "unknown";
        }
    }

    private static long read(FileChannel numbers) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(WIDTH);
        int length = numbers.read(buffer, 0);
        return length <= 0 ? 0 : Long.parseLong(new String(buffer.array(), 0, length, StandardCharsets.US_ASCII).trim());
    }

    private static void write(BufferedWriter out, Object... fields) throws IOException {
        String[] texts = new String[fields.length];
        for (int i = 0; i < fields.length; i++) {
            texts[i] = String.valueOf(fields[i]);
        }
        out.write(Line.join(List.of(texts)));
        out.write('\n');
    }
}
