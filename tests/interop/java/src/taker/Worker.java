// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread that carries out calls in order, and whose waits can be ended. */
final class Worker {
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread;
    private Call current;
    private boolean cancelled;

    Worker(String number) {
        thread = new Thread(this::run, "worker " + number);
        thread.setDaemon(true);
        thread.start();
    }

    void post(Call call, Runnable work) {
        tasks.add(() -> {
            enter(call);
            work.run();
            leave();
        });
    }

    /** Ends this call if it is under way and can wait; one that goes on for a time ends after the round that it is in. */
    synchronized boolean cancel(String tag) {
        boolean here = current != null && current.tag().equals(tag);
        if (here && canWait(current)) {
            thread.interrupt();
        } else if (!here || !current.verb().equals("hold_for")) {
            return false;
        }
        cancelled = true;
        return true;
    }

    synchronized void interruptWaits() {
        if (current != null && canWait(current)) {
            thread.interrupt();
        }
    }

    synchronized boolean wasCancelled(Call call) {
        return cancelled && current == call;
    }

    private static boolean canWait(Call call) {
        return call.verb().equals("lock") || call.verb().equals("try");
    }

    private synchronized void enter(Call call) {
        current = call;
        cancelled = false;
    }

    /** Whoever interrupts does it before this, so that the next call does not find the mark. */
    private synchronized void leave() {
        current = null;
        Thread.interrupted();
    }

    private void run() {
        try {
            while (true) {
                tasks.take().run();
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
