// SPDX-License-Identifier: Apache-2.0
// The driver of node redlock over ioredis: takes and gives back locks as bench/README.md says. A caller is an async
// function. Not redlock's defaults: a lease of 30 s (it has none), and no limit to the number of tries (its own: 10).
// The delay between two is its own, 100 to 300 ms.
// Redlock cannot be told to give up at a point in time. A take that is to end then is told that it has no try left, and
// comes back after the next one; what it has waited, and whether it was in time, is reckoned at the point in time.
'use strict';

const readline = require('node:readline');
const Redis = require('ioredis');
const Redlock = require('redlock');
const { Meter, Samples, nowNs, cpuUs, rssBytes, spin, sleepUntil, summary } = require('./measure.js');

const NO_LIMIT = -1;
const NO_TRY_LEFT = -2;
const ROUND_TRIPS_OF_A_TRY = 4; // two scripts, each perhaps not known to the server yet

let clients = []; // {connection, redlock}
let leaseMs = 30000;
const taken = new Map();
let crowd = null; // {locks, waiters: a promise of each}

async function connect(url, ...words) {
  const settings = parse(words);
  leaseMs = Number(settings.lease_ms ?? leaseMs);
  for (let i = 0; i < Number(settings.clients ?? 1); i++) {
    const connection = new Redis(url);
    connection.on('error', (error) => console.error(error.message));
    const redlock = new Redlock([connection], { retryCount: NO_LIMIT });
    redlock.on('clientError', (error) => console.error(error.message));
    clients.push({ connection, redlock });
  }
  await Promise.all(clients.map(({ connection }) => connection.ping()));
}

const parse = (words) => Object.fromEntries(words.map((word) => word.split(/=(.*)/, 2)));
const lock = (caller, key) => clients[caller % clients.length].redlock.lock(key, leaseMs);

// The lock, or nothing once options.retryCount has left it no try.
async function lockWhile(options, caller, key) {
  try {
    return await clients[caller % clients.length].redlock.lockWithOptions(key, leaseMs, options);
  } catch (error) {
    if (error instanceof Redlock.LockError) return null;
    throw error;
  }
}

const callers = (count, body) => Promise.all(Array.from({ length: count }, (_, caller) => body(caller)));

async function pairs({ threads, seconds, keys }) {
  const samples = Array.from({ length: threads }, () => new Samples());
  const meter = new Meter(nowNs());
  const end = meter.start + seconds * 1e9;
  await callers(Number(threads), async (caller) => {
    for (let begun = nowNs(); begun < end;) {
      const held = await lock(caller, `${keys}:${caller}`);
      await held.unlock();
      const done = nowNs();
      samples[caller].add(done - begun);
      begun = done;
    }
  });
  const measured = meter.stop();
  return { ...measured, pairs: samples.reduce((sum, each) => sum + each.count, 0), ...summary(samples, '') };
}

async function hot({ threads, seconds, key, inside_us: insideUs = 0, start_ns: startNs = 0 }) {
  const waits = Array.from({ length: threads }, () => new Samples());
  const served = new Array(Number(threads)).fill(0);
  const options = { retryCount: NO_LIMIT };
  const meter = new Meter(Number(startNs) || nowNs());
  const end = meter.start + seconds * 1e9;
  const measured = sleepUntil(end).then(() => {
    options.retryCount = NO_TRY_LEFT;
    return meter.stop();
  });
  await callers(Number(threads), async (caller) => {
    await sleepUntil(meter.start);
    for (let begun = nowNs(); begun < end; begun = nowNs()) {
      const held = await lockWhile(options, caller, key);
      const entered = nowNs();
      waits[caller].add(Math.min(entered, end) - begun);
      if (held && entered < end) {
        served[caller]++;
        spin(insideUs * 1000);
      }
      await held?.unlock();
    }
  });
  const sections = served.reduce((sum, each) => sum + each, 0);
  return { ...await measured, sections, served, ...summary(waits, 'wait_') };
}

async function take({ key, wait_s: waitS }) {
  const limit = nowNs() + waitS * 1e9;
  const options = { retryCount: waitS > 0 ? NO_LIMIT : NO_TRY_LEFT };
  const timer = setTimeout(() => { options.retryCount = NO_TRY_LEFT; }, waitS * 1000);
  const held = await lockWhile(options, 0, key);
  const returned = nowNs();
  clearTimeout(timer);
  if (waitS > 0 && returned >= limit) {
    await held?.unlock();
    return { taken: false, at_ns: limit };
  }
  if (held) taken.set(key, held);
  return { taken: held !== null, at_ns: returned };
}

async function release({ key }) {
  const held = taken.get(key);
  if (!held) throw new Error(`not taken: ${key}`);
  taken.delete(key);
  const before = nowNs();
  await held.unlock();
  return { before_ns: before, after_ns: nowNs() };
}

async function gather({ waiters, locks, keys }) {
  const held = [];
  for (let i = 0; i < locks; i++) held.push(await lock(0, `${keys}:${i}`));
  const before = rssBytes();
  const start = nowNs();
  crowd = {
    locks: held,
    waiters: Array.from({ length: waiters }, async (_, waiter) => {
      const entered = await lock(waiter, `${keys}:${waiter % locks}`);
      await entered.unlock();
    }),
  };
  // Answers come in the order of the questions: after these each waiter has been refused once.
  for (let i = 0; i < ROUND_TRIPS_OF_A_TRY; i++) await Promise.all(clients.map(({ connection }) => connection.ping()));
  const seconds = (nowNs() - start) / 1e9;
  return { waiting: crowd.waiters.length, seconds, rss_before_bytes: before, rss_after_bytes: rssBytes() };
}

async function crowdGo() {
  if (!crowd) throw new Error('no crowd waits');
  const { locks, waiters } = crowd;
  crowd = null;
  const meter = new Meter(nowNs());
  for (const held of locks) await held.unlock();
  await Promise.all(waiters);
  return { grants: waiters.length, ...meter.stop() };
}

const commands = {
  pairs,
  hot,
  take,
  release,
  hold: () => ({ unsupported: 'no watchdog' }),
  crowd: gather,
  crowd_go: crowdGo,
  usage: () => ({ cpu_us: cpuUs(), rss_bytes: rssBytes() }),
};

async function carryOut(line) {
  const [verb, ...words] = line.trim().split(' ');
  if (!Object.hasOwn(commands, verb)) return { unsupported: 'no such command' };
  try {
    return await commands[verb](parse(words));
  } catch (error) {
    return { error: error.message };
  }
}

async function main() {
  await connect(...process.argv.slice(2));
  console.log('ready');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await carryOut(line)));
  }
  process.exit(0);
}

main();
