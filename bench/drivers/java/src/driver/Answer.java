// SPDX-License-Identifier: Apache-2.0
package driver;

import java.util.Arrays;
import java.util.List;

/** A JSON object on one line. */
final class Answer {
    private final StringBuilder fields = new StringBuilder();

    Answer with(String key, String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\');
            }
            quoted.append(c < ' ' ? ' ' : c);
        }
        return put(key, quoted.append('"'));
    }

    Answer with(String key, boolean value) {
        return put(key, value);
    }

    Answer with(String key, long value) {
        return put(key, value);
    }

    Answer with(String key, double value) {
        return put(key, value);
    }

    Answer with(String key, int[] values) {
        return put(key, Arrays.toString(values));
    }

    Answer with(String key, List<Long> values) {
        return put(key, values);
    }

    /** How long a command took, and the CPU that it used. */
    Answer with(Span span) {
        return with("seconds", span.seconds()).with("cpu_us", span.cpuMicroseconds());
    }

    @Override
    public String toString() {
        return "{" + fields + "}";
    }

    private Answer put(String key, Object json) {
        fields.append(fields.length() == 0 ? "" : ", ").append('"').append(key).append("\": ").append(json);
        return this;
    }
}
