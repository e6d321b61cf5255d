// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.Arrays;

import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;

/** What the version of Redisson on the class path can do, a word a line: asked of its classes, not of its number. */
public final class Abilities {
    private Abilities() {
    }

    public static void main(String[] args) {
        tell("fenced", has(RedissonClient.class, "getFencedLock"));
        tell("spin", has(RedissonClient.class, "getSpinLock"));
        tell("non_reentrant", has(RedissonClient.class, "getNonReentrantLock"));
        tell("name_prefix", has(ClusterServersConfig.class, "setNameMapper"));
        tell("sharded_subscription", has(ClusterServersConfig.class, "setShardedSubscriptionMode"));
        tell("spublish", has("org.redisson.pubsub.PublishSubscribeService", "getPublishCommand"));
        tell("unlock_latch", has("org.redisson.RedissonBaseLock", "getUnlockLatchName")
                || has("org.redisson.RedissonLock", "getUnlockLatchName"));
    }

    private static void tell(String ability, boolean there) {
        if (there) {
            System.out.println(ability);
        }
    }

    private static boolean has(Class<?> type, String method) {
        return Arrays.stream(type.getMethods()).anyMatch(each -> each.getName().equals(method));
    }

    /** Of Redisson's own classes, some of which come and go; whatever their methods are. */
    private static boolean has(String type, String method) {
        try {
            return Arrays.stream(Class.forName(type).getDeclaredMethods())
                    .anyMatch(each -> each.getName().equals(method));
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }
}
