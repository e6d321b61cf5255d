// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.List;

import org.redisson.api.RLock;

/** The locks of `hold`, which are kept until the driver ends, and so are the threads that own them. */
final class Holds {
    private static final int MOST_CALLERS = 64;

    private final Clients clients;
    private final List<RLock[]> kept = new ArrayList<>();

    Holds(Clients clients) {
        this.clients = clients;
    }

    Answer hold(Command command) throws Exception {
        RLock[] locks = new RLock[command.count("count")];
        String prefix = command.text("keys") + ":";
        int threads = Math.min(MOST_CALLERS, locks.length);
        kept.add(locks);
        long before = Usage.residentBytesCollected();
        Span span = new Callers(threads).run((caller, beginNs) -> {
            for (int i = caller; i < locks.length; i += threads) {
                locks[i] = clients.lock(caller, prefix + i);
                locks[i].lock();
            }
        });
        return new Answer().with("held", locks.length).with(span)
                .with("rss_before_bytes", before).with("rss_after_bytes", Usage.residentBytesCollected());
    }
}
