// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.redisson.client.RedisTimeoutException;

/** Carries out commands, each on the thread that it names. Answers come one at a time. */
final class Session {
    private static final Set<String> WITH_THREAD =
            Set.of("lock", "try", "unlock", "mine", "count", "increment", "increment_for", "compare_for",
                    "hold_for", "counting");

    private final Consumer<String> onAnswer;
    private final Map<String, Worker> workers = new ConcurrentHashMap<>();
    private volatile Locks locks;
    private volatile boolean closed;

    Session(Consumer<String> onAnswer) {
        this.onAnswer = onAnswer;
    }

    /** Hands the command to its thread; only connect and cancel are done at once. */
    void submit(List<String> fields) {
        Call call = new Call(fields);
        if (call.verb().equals("connect") || call.verb().equals("cancel")) {
            carryOut(call, null);
            return;
        }
        boolean withThread = WITH_THREAD.contains(call.verb()) && call.count() > 0;
        Worker worker = workers.computeIfAbsent(withThread ? call.argument(0) : "0", Worker::new);
        worker.post(call, () -> carryOut(call, worker));
    }

    /** Ends what waits, and the clients. Holds stay until their leases end, as Redisson leaves them. */
    void close() {
        closed = true;
        workers.values().forEach(Worker::interruptWaits);
        if (locks != null) {
            locks.close();
        }
    }

    private void carryOut(Call call, Worker worker) {
        call.begin();
        String answer;
        try {
            answer = call.answer("ok", dispatch(call, worker));
        } catch (Throwable error) {
            boolean cancelled = worker != null && worker.wasCancelled(call);
            answer = call.answer("error", word(error, cancelled), String.valueOf(error));
        }
        synchronized (onAnswer) {
            onAnswer.accept(answer);
        }
    }

    private String dispatch(Call call, Worker worker) throws Exception {
        switch (call.verb()) {
            case "connect":
                locks = Locks.connect(call);
                return locks.id();
            case "cancel":
                return yesOrNo(workers.values().stream().anyMatch(each -> each.cancel(call.argument(0))));
            case "close":
                close();
                return "";
            default:
                if (locks == null) {
                    throw new IllegalArgumentException("not connected");
                }
                return new Commands(locks, () -> worker.wasCancelled(call)).carryOut(call);
        }
    }

    static String yesOrNo(boolean value) {
        return value ? "yes" : "no";
    }

    private String word(Throwable error, boolean cancelled) {
        if (closed) {
            return "closed";
        }
        if (cancelled) {
            return "cancelled";
        }
        if (error instanceof IllegalMonitorStateException) {
            return "not_owner";
        }
        if (error instanceof RedisTimeoutException) {
            return "unknown_outcome";
        }
        return error instanceof IllegalArgumentException ? "usage" : "failed";
    }
}
