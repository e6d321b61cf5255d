// SPDX-License-Identifier: Apache-2.0
// What the driver measures with: the clock, the process, and samples.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');

const nowNs = () => Number(process.hrtime.bigint());

const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

// What the process keeps, once the collector has been.
const rssBytes = () => {
  global.gc();
  return process.memoryUsage.rss();
};

function spin(lengthNs) {
  for (const end = nowNs() + lengthNs; nowNs() < end;);
}

async function sleepUntil(pointNs) {
  for (let left = pointNs - nowNs(); left > 0; left = pointNs - nowNs()) { // timers know milliseconds, and come early
    await sleep(Math.ceil(left / 1e6));
  }
}

// The seconds and the processor time of a command.
class Meter {
  constructor(start) {
    this.start = start;
    this.cpu = cpuUs();
  }

  stop() {
    return { seconds: (nowNs() - this.start) / 1e9, cpu_us: cpuUs() - this.cpu };
  }
}

// The samples of one caller, in nanoseconds, outside of the collector's heap.
class Samples {
  constructor() {
    this.values = new Float64Array(1 << 14);
    this.count = 0;
  }

  add(value) {
    if (this.count === this.values.length) {
      const larger = new Float64Array(2 * this.count);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.count++] = value;
  }
}

// p50, p99 and max of all callers' samples.
function summary(parts, prefix) {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.count, 0));
  let filled = 0;
  for (const part of parts) {
    all.set(part.values.subarray(0, part.count), filled);
    filled += part.count;
  }
  all.sort();
  const at = (share) => Math.round((all[Math.floor(share * (all.length - 1))] ?? 0) / 10) / 100;
  return { [`${prefix}p50_us`]: at(0.5), [`${prefix}p99_us`]: at(0.99), [`${prefix}max_us`]: at(1) };
}

module.exports = { Meter, Samples, nowNs, cpuUs, rssBytes, spin, sleepUntil, summary };
