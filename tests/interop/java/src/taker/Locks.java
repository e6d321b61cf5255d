// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** The clients of a session, one for each URL, and the locks that its names mean. */
final class Locks {
    private static final Set<String> WITHOUT_MEANING = Set.of("safety_poll_ms", "subscription_linger_ms",
            "release_timeout_ms", "patience_ms", "on_close", "over", "acks", "acks_timeout_ms", "events", "publish");
    private static final String READERS_OF = "read:";

    private final List<RedissonClient> clients = new ArrayList<>();
    private final String kind;

    private Locks(String kind) {
        if (!Set.of("lock", "non_reentrant", "fenced", "fair", "spin", "read_write", "multi", "red").contains(kind)) {
            throw new IllegalArgumentException("no such kind of lock: " + kind);
        }
        this.kind = kind;
    }

    /** The arguments of `connect`: URL[,URL...] [KEY=VALUE...]. */
    static Locks connect(Call call) throws ReflectiveOperationException {
        Map<String, String> settings = new TreeMap<>();
        for (int i = 1; i < call.count(); i++) {
            String[] setting = call.argument(i).split("=", 2);
            if (!WITHOUT_MEANING.contains(setting[0])) {
                settings.put(setting[0], setting[1]);
            }
        }
        String kind = settings.remove("kind");
        Locks locks = new Locks(kind == null ? "lock" : kind);
        for (String url : Servers.urls(call.argument(0))) {
            Servers servers = new Servers(url);
            servers.set(settings);
            if (locks.kind.equals("red")) {
                servers.giveUpSoon();
            }
            locks.clients.add(Redisson.create(servers.config()));
        }
        return locks;
    }

    /** The client's id, as it stands in owners. */
    String id() {
        return clients.get(0).getId();
    }

    RedissonClient client() {
        return clients.get(0);
    }

    RLock get(String name) {
        switch (kind) {
            case "multi":
                return new RedissonMultiLock(members(name));
            case "red":
                return redLock(name);
            case "non_reentrant":
                return byMaker("getNonReentrantLock", name);
            case "fenced":
                return byMaker("getFencedLock", name);
            case "fair":
                return clients.get(0).getFairLock(name);
            case "spin":
                return byMaker("getSpinLock", name);
            case "read_write":
                return sideOf(name);
            default:
                return clients.get(0).getLock(name);
        }
    }

    boolean canCount() {
        return !Set.of("fenced", "multi", "red").contains(kind);
    }

    boolean isMine(String name) {
        if (kind.equals("read_write")) {
            return isHeld(get(name));
        }
        RLock[] members = members(name);
        int held = 0;
        for (RLock member : members) {
            held += isHeld(member) ? 1 : 0;
        }
        return kind.equals("red") ? held > members.length / 2 : held == members.length;
    }

    /** Of a red lock's servers a minority may be down. */
    private boolean isHeld(RLock member) {
        try {
            return member.isHeldByCurrentThread();
        } catch (RedisException error) {
            if (kind.equals("red")) {
                return false;
            }
            throw error;
        }
    }

    void close() {
        for (RedissonClient client : clients) {
            client.shutdown(0, 5, TimeUnit.SECONDS);
        }
    }

    /** Looked up by the maker's name, for the oldest versions have some kinds not yet. */
    private RLock byMaker(String maker, String name) {
        try {
            return (RLock) RedissonClient.class.getMethod(maker, String.class).invoke(clients.get(0), name);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("this version has no " + maker, error);
        }
    }

    private RLock sideOf(String name) {
        if (name.startsWith(READERS_OF)) {
            return clients.get(0).getReadWriteLock(name.substring(READERS_OF.length())).readLock();
        }
        return clients.get(0).getReadWriteLock(name).writeLock();
    }

    @SuppressWarnings("deprecation")
    private RLock redLock(String name) {
        return new RedissonRedLock(members(name));
    }

    /** Of a multi lock: several names, the k-th on the k-th server. Of a red lock: one name on every server. */
    private RLock[] members(String name) {
        List<RLock> members = new ArrayList<>();
        if (kind.equals("red")) {
            clients.forEach(client -> members.add(client.getLock(name)));
        } else {
            String[] names = kind.equals("multi") ? name.split(",") : new String[] {name};
            for (int k = 0; k < names.length; k++) {
                members.add(clients.get(k % clients.size()).getLock(names[k]));
            }
        }
        return members.toArray(new RLock[0]);
    }
}
