// SPDX-License-Identifier: Apache-2.0
// A taker on node redlock: takes and gives back locks as it is told.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const Redis = require('ioredis');
const Redlock = require('redlock');
const { Failure, micros, serve } = require('./line');

const RETRY_MS = 20;

let clients = [];
let redlock = null;
let leaseMs = 30000;

function connect(url, ...settings) {
  for (const setting of settings) {
    const [key, value] = setting.split('=');
    if (key === 'lease_ms') leaseMs = Number(value);
  }
  clients = url.split(',').map((each) => {
    const client = new Redis(each, { maxRetriesPerRequest: 1, commandTimeout: 500 });
    client.on('error', () => {}); // a server that is down is a vote less, and no reason to end
    return client;
  });
  redlock = new Redlock(clients, { retryCount: 0 });
  redlock.on('clientError', () => {});
  return `node redlock ${require('redlock/package.json').version}`;
}

async function take(held, name, lease, waitMs) {
  const duration = Number(lease) || leaseMs;
  const end = micros() + BigInt(Math.round((waitMs ?? 0) * 1000));
  for (;;) {
    try {
      held.set(name, await redlock.lock(name, duration));
      return true;
    } catch (error) {
      if (!(error instanceof Redlock.LockError)) throw error;
      if (waitMs !== null && micros() >= end) return false;
    }
    await sleep(RETRY_MS * (0.5 + Math.random() / 2));
  }
}

async function owned(held, name, action) {
  const lock = held.get(name);
  if (!lock) throw new Failure('not_owner', 'this thread does not hold it');
  try {
    return await action(lock);
  } catch (error) {
    if (error instanceof Redlock.LockError) throw new Failure('not_owner', error.message);
    throw error;
  }
}

async function giveBack(held, name) {
  await owned(held, name, (lock) => {
    held.delete(name);
    return lock.unlock();
  });
  return 'released';
}

const commands = {
  extend: async (held, [, name, lease]) => {
    held.set(name, await owned(held, name, (lock) => lock.extend(Number(lease))));
    return 'yes';
  },
  token: (held, [, name]) => held.get(name)?.value ?? '',
  mine: async (held, [, name]) => {
    const lock = held.get(name);
    return lock && (await clients[0].get(name)) === lock.value ? 'yes' : 'no';
  },
  count: (held, [, name]) => (held.has(name) ? '1' : '0'),
  force: async (held, [name]) => ((await clients[0].del(name)) > 0 ? 'yes' : 'no'),
  locked: async (held, [name]) => ((await clients[0].exists(name)) > 0 ? 'yes' : 'no'),
  ttl: async (held, [name]) => {
    const left = await clients[0].pttl(name);
    return left >= 0 ? left : 'none';
  },
  close: () => {
    for (const client of clients) client.disconnect();
    return '';
  },
};

serve({ connect, connected: () => redlock !== null, newThread: () => new Map(), take, giveBack, commands });
