// A taker on node redlock: takes and gives back locks as it is told. The protocol is described in tests/README.md.
'use strict';

const fs = require('node:fs/promises');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const Redis = require('ioredis');
const Redlock = require('redlock');

const RETRY_MS = 20;
const THREAD_COMMANDS = new Set([
  'lock', 'try', 'unlock', 'extend', 'token', 'mine', 'count', 'increment', 'increment_for',
]);

class Failure extends Error {
  constructor(word, text) {
    super(text);
    this.word = word;
  }
}

const micros = () => process.hrtime.bigint() / 1000n;

function decode(field) {
  return Buffer.from(field.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))), 'latin1')
    .toString('utf8');
}

function encode(field) {
  let line = '';
  for (const byte of Buffer.from(String(field), 'utf8')) {
    const plain = byte > 0x20 && byte < 0x7f && byte !== 0x25;
    line += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return line;
}

let clients = [];
let redlock = null;
let leaseMs = 30000;
const threads = new Map(); // number -> {held: Map of locks by name, last: the promise of the last command}

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

async function take(thread, name, lease, waitMs) {
  const duration = Number(lease) || leaseMs;
  const end = micros() + BigInt(Math.round((waitMs ?? 0) * 1000));
  for (;;) {
    try {
      thread.held.set(name, await redlock.lock(name, duration));
      return true;
    } catch (error) {
      if (!(error instanceof Redlock.LockError)) throw error;
      if (waitMs !== null && micros() >= end) return false;
    }
    await sleep(RETRY_MS * (0.5 + Math.random() / 2));
  }
}

async function owned(thread, name, action) {
  const lock = thread.held.get(name);
  if (!lock) throw new Failure('not_owner', 'this thread does not hold it');
  try {
    return await action(lock);
  } catch (error) {
    if (error instanceof Redlock.LockError) throw new Failure('not_owner', error.message);
    throw error;
  }
}

async function giveBack(thread, name) {
  await owned(thread, name, (lock) => {
    thread.held.delete(name);
    return lock.unlock();
  });
  return 'released';
}

async function increment(thread, [, name, file, , pause], goesOn) {
  let done = 0;
  for (; goesOn(done); ++done) {
    await take(thread, name, 0, null);
    const value = Number(await fs.readFile(file, { encoding: 'ascii', flag: 'a+' })); // makes it if nobody has yet
    if (pause) await sleep(Number(pause));
    await fs.writeFile(file, String(value + 1));
    await giveBack(thread, name);
  }
  return done;
}

async function dispatch(thread, command, args) {
  const lock = thread.held.get(args[1]);
  switch (command) {
    case 'lock':
      await take(thread, args[1], args[2], null);
      return '';
    case 'try':
      return (await take(thread, args[1], args[3], Number(args[2]))) ? 'yes' : 'no';
    case 'unlock':
      return giveBack(thread, args[1]);
    case 'extend':
      thread.held.set(args[1], await owned(thread, args[1], (held) => held.extend(Number(args[2]))));
      return 'yes';
    case 'token':
      return lock ? lock.value : '';
    case 'mine':
      return lock && (await clients[0].get(args[1])) === lock.value ? 'yes' : 'no';
    case 'count':
      return lock ? '1' : '0';
    case 'increment':
      return increment(thread, args, (done) => done < Number(args[3]));
    case 'increment_for': {
      const end = micros() + BigInt(args[3]) * 1000n;
      return increment(thread, args, () => micros() < end);
    }
    case 'force':
      return (await clients[0].del(args[0])) > 0 ? 'yes' : 'no';
    case 'locked':
      return (await clients[0].exists(args[0])) > 0 ? 'yes' : 'no';
    case 'ttl': {
      const left = await clients[0].pttl(args[0]);
      return left >= 0 ? left : 'none';
    }
    case 'close':
      for (const client of clients) client.disconnect();
      return '';
    default:
      throw new Failure('usage', `no such command: ${command}`);
  }
}

async function carryOut(tag, action) {
  const began = micros();
  let fields;
  try {
    fields = ['ok', await action()];
  } catch (error) {
    fields = ['error', error instanceof Failure ? error.word : 'failed', error.message];
  }
  console.log([tag, began, micros(), ...fields].map(encode).join(' '));
}

function submit(line) {
  const [tag, command, ...args] = line.split(' ').map(decode);
  if (command === 'exit') process.exit(0);
  if (command === 'connect') return carryOut(tag, () => connect(...args));
  if (command === 'cancel') return carryOut(tag, () => 'no');
  const number = THREAD_COMMANDS.has(command) ? Number(args[0]) : 0;
  if (!threads.has(number)) threads.set(number, { held: new Map(), last: Promise.resolve() });
  const thread = threads.get(number);
  thread.last = thread.last.then(() => carryOut(tag, () => {
    if (!redlock) throw new Failure('usage', 'not connected');
    return dispatch(thread, command, args);
  }));
  return thread.last;
}

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', submit);
lines.on('close', () => process.exit(0));
