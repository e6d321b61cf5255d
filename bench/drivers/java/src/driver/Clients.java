// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.ArrayList;
import java.util.List;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNode;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

/**
 * So many separate clients of one server, of one deployment with Sentinels, or of one cluster. Caller i uses client i mod
 * their number.
 */
final class Clients {
    private static final String SENTINELS = "redis+sentinel://";
    private static final String CLUSTER = "redis+cluster://";
    private static final int CROWD = 16;

    private final List<RedissonClient> clients = new ArrayList<>();

    /** The arguments of the program: URL [lease_ms=30000] [clients=1]. */
    static Clients connect(String[] args) {
        Command settings = new Command("run url=" + String.join(" ", args));
        int count = settings.has("clients") ? settings.count("clients") : 1;
        Clients all = new Clients();
        for (int k = 0; k < count; k++) {
            Config config = new Config();
            connect(config, settings.text("url"));
            if (count > CROWD) {
                keepSmall(config);
            }
            config.setLockWatchdogTimeout(settings.has("lease_ms") ? settings.count("lease_ms") : 30_000);
            all.clients.add(Redisson.create(config));
        }
        return all;
    }

    private static void connect(Config config, String url) {
        if (url.startsWith(CLUSTER)) {
            connectToCluster(config, url.substring(CLUSTER.length()));
            return;
        }
        if (!url.startsWith(SENTINELS)) {
            config.useSingleServer().setAddress(url);
            return;
        }
        String[] parts = url.substring(SENTINELS.length()).split("/");
        SentinelServersConfig sentinels = config.useSentinelServers().setMasterName(parts[1]);
        for (String address : parts[0].split(",")) {
            sentinels.addSentinelAddress("redis://" + address);
        }
    }

    /** Of so many in one process, each with its 24 connections and 48 threads, only a few would fit. */
    private static void keepSmall(Config config) {
        config.setThreads(2).setNettyThreads(2);
        if (config.isSingleConfig()) {
            config.useSingleServer().setConnectionMinimumIdleSize(1);
        }
    }

    /** Fewer connections at rest than Redisson's 24 for each node: with many clients a machine has not that many. */
    private static void connectToCluster(Config config, String addresses) {
        ClusterServersConfig cluster = config.useClusterServers()
                .setMasterConnectionMinimumIdleSize(1).setSlaveConnectionMinimumIdleSize(1);
        for (String address : addresses.split(",")) {
            cluster.addNodeAddress("redis://" + address);
        }
    }

    int count() {
        return clients.size();
    }

    RedissonClient get(int caller) {
        return clients.get(caller % clients.size());
    }

    RLock lock(int caller, String name) {
        return get(caller).getLock(name);
    }

    /** How many tries have found a lock taken since the server began: only these ask for the lock's time to live. */
    long failedTries() {
        String figures = clients.get(0).getRedisNodes(RedisNodes.SINGLE).getInstance()
                .info(RedisNode.InfoSection.COMMANDSTATS).getOrDefault("cmdstat_pttl", "calls=0,");
        return Long.parseLong(figures.substring("calls=".length(), figures.indexOf(',')));
    }
}
