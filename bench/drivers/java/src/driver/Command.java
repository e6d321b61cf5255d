// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.HashMap;
import java.util.Map;

/** One line of standard input: verb key=value ... */
final class Command {
    private final String verb;
    private final Map<String, String> values = new HashMap<>();

    Command(String line) {
        String[] fields = line.trim().split(" +");
        verb = fields[0];
        for (int i = 1; i < fields.length; i++) {
            String[] pair = fields[i].split("=", 2);
            if (pair.length < 2) {
                throw new IllegalArgumentException("not key=value: " + fields[i]);
            }
            values.put(pair[0], pair[1]);
        }
    }

    String verb() {
        return verb;
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException(verb + ": " + key + " is missing");
        }
        return value;
    }

    int count(String key) {
        return Integer.parseInt(text(key));
    }

    long nanoseconds(String key) {
        return Long.parseLong(text(key));
    }

    /** In nanoseconds, from seconds or microseconds that may have a fraction. */
    long duration(String key, long unit) {
        return Math.round(Double.parseDouble(text(key)) * unit);
    }
}
