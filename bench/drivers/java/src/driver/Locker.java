// SPDX-License-Identifier: Apache-2.0
package driver;

/** One caller's way to what it takes. */
interface Locker {
    void take() throws InterruptedException;

    /** False if it was not to be had before that moment. */
    boolean takeUntil(long endNs) throws InterruptedException;

    void release();
}
