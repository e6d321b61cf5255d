// SPDX-License-Identifier: Apache-2.0
package taker;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;

/** What a URL stands for: one server, Sentinels and what they watch over, or a cluster. */
final class Servers {
    private static final String SENTINELS = "redis+sentinel://";
    private static final String CLUSTER = "redis+cluster://";

    private final Config config = new Config();
    private final BaseConfig<?> servers;

    Servers(String url) {
        if (url.startsWith(SENTINELS)) {
            servers = sentinels(url.substring(SENTINELS.length()));
        } else if (url.startsWith(CLUSTER)) {
            servers = cluster(url.substring(CLUSTER.length()));
        } else {
            servers = single(url);
        }
    }

    /** URLs with commas between them; what follows a comma and has no scheme is one more address of the same URL. */
    static List<String> urls(String text) {
        List<String> urls = new ArrayList<>();
        for (String part : text.split(",")) {
            if (urls.isEmpty() || part.contains("://")) {
                urls.add(part);
            } else {
                urls.add(urls.remove(urls.size() - 1) + "," + part);
            }
        }
        return urls;
    }

    Config config() {
        return config;
    }

    void set(Map<String, String> settings) throws ReflectiveOperationException {
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            switch (setting.getKey()) {
                case "lease_ms":
                    config.setLockWatchdogTimeout(Long.parseLong(setting.getValue()));
                    break;
                case "command_timeout_ms":
                    servers.setTimeout(Integer.parseInt(setting.getValue()));
                    break;
                case "name_prefix":
                    setPrefix(setting.getValue());
                    break;
                case "sharded_subscription":
                    setShardedSubscription(setting.getValue());
                    break;
                default:
                    throw new IllegalArgumentException("no such setting: " + setting.getKey());
            }
        }
    }

    /** A server that is down takes it many seconds otherwise. */
    void giveUpSoon() {
        servers.setRetryAttempts(1);
        servers.setRetryInterval(100);
    }

    private SingleServerConfig single(String url) {
        return config.useSingleServer().setAddress(url).setConnectionMinimumIdleSize(1);
    }

    /** `host:port,host:port/name`. As Redisson does it by itself, but for the number of connections. */
    private SentinelServersConfig sentinels(String text) {
        String[] parts = text.split("/");
        SentinelServersConfig sentinels = config.useSentinelServers().setMasterName(parts[1]);
        for (String address : parts[0].split(",")) {
            sentinels.addSentinelAddress("redis://" + address);
        }
        return sentinels.setMasterConnectionMinimumIdleSize(1).setSlaveConnectionMinimumIdleSize(1);
    }

    /** `host:port,host:port`. Redisson's defaults, but for the number of connections. */
    private ClusterServersConfig cluster(String text) {
        ClusterServersConfig cluster = config.useClusterServers();
        for (String address : text.split(",")) {
            cluster.addNodeAddress("redis://" + address);
        }
        return cluster.setMasterConnectionMinimumIdleSize(1).setSlaveConnectionMinimumIdleSize(1);
    }

    /** AUTO, ON or OFF. Came after 3.24.3, hence without its name. */
    private void setShardedSubscription(String mode) throws IllegalAccessException, InvocationTargetException {
        for (Method setter : servers.getClass().getMethods()) {
            if (setter.getName().equals("setShardedSubscriptionMode")) {
                for (Object value : setter.getParameterTypes()[0].getEnumConstants()) {
                    if (value.toString().equals(mode)) {
                        setter.invoke(servers, value);
                        return;
                    }
                }
            }
        }
        throw new IllegalArgumentException("this version has no shardedSubscriptionMode " + mode);
    }

    /** NameMapper came after 3.16 and moved to another package in 4.0, hence without its name. */
    private void setPrefix(String prefix) throws IllegalAccessException, InvocationTargetException {
        for (Method setter : servers.getClass().getMethods()) {
            if (setter.getName().equals("setNameMapper")) {
                Class<?> type = setter.getParameterTypes()[0];
                setter.invoke(servers, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                        (self, method, arguments) -> method.getName().equals("map") ? prefix + arguments[0]
                                : ((String) arguments[0]).substring(prefix.length())));
                return;
            }
        }
        throw new IllegalArgumentException("this version has no NameMapper");
    }
}
