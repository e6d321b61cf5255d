// SPDX-License-Identifier: Apache-2.0
// A taker on node-redisson: takes and gives back locks as it is told. A lock object of that library is a holder of its
// own, so a thread has one for each name.
'use strict';

const { Redisson } = require('node-redisson');
const { RedissonLockError } = require('node-redisson/dist/errors/RedissonLockError');
const { Failure, serve } = require('./line');

let redisson = null;

function connect(url, ...settings) {
  const config = {};
  for (const setting of settings) {
    const [key, value] = setting.split('=');
    if (key === 'lease_ms') config.lockWatchdogTimeout = BigInt(value);
    if (key === 'events') config.eventAdapter = value;
  }
  const { hostname, port } = new URL(url);
  redisson = new Redisson({ redis: { options: { host: hostname, port: Number(port) } }, ...config });
  return redisson.commandExecutor.id;
}

const newThread = () => ({ locks: new Map() });

function lockOf(thread, name) {
  if (!thread.locks.has(name)) {
    thread.locks.set(name, redisson.getLock(name));
  }
  return thread.locks.get(name);
}

const counted = async (thread, name) => {
  const field = `${redisson.commandExecutor.id}:${lockOf(thread, name).clientId}`;
  return Number((await redisson.redis.hget(name, field)) ?? 0);
};

async function take(thread, name, lease, waitMs) {
  const leaseTime = Number(lease) > 0 ? BigInt(lease) : true; // true: renewed
  const lock = lockOf(thread, name);
  if (waitMs !== null) return lock.tryLock(BigInt(Math.round(waitMs)), leaseTime);
  await lock.lock(leaseTime);
  return true;
}

async function giveBack(thread, name) {
  try {
    await lockOf(thread, name).unlock();
  } catch (error) {
    if (error instanceof RedissonLockError) throw new Failure('not_owner', error.message);
    throw error;
  }
  return (await counted(thread, name)) > 0 ? 'still_held' : 'released';
}

const commands = {
  mine: async (thread, [, name]) => ((await counted(thread, name)) > 0 ? 'yes' : 'no'),
  count: (thread, [, name]) => counted(thread, name),
  force: async (thread, [name]) => ((await lockOf(thread, name).forceUnlock()) ? 'yes' : 'no'),
  locked: async (thread, [name]) => ((await lockOf(thread, name).isLocked()) ? 'yes' : 'no'),
  ttl: async (thread, [name]) => {
    const left = await redisson.redis.pttl(name);
    return left >= 0 ? left : 'none';
  },
  close: async () => {
    await redisson.quit();
    return '';
  },
};

serve({ connect, connected: () => redisson !== null, newThread, take, giveBack, commands });
