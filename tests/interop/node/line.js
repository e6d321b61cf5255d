// SPDX-License-Identifier: Apache-2.0
// What the takers on Node share: lines in, answers out. The protocol is described in tests/README.md.
'use strict';

const fs = require('node:fs/promises');
const readline = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');

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

async function increment(taker, thread, [, name, file, , pause], goesOn) {
  let done = 0;
  for (; goesOn(done); ++done) {
    await taker.take(thread, name, 0, null);
    const value = Number(await fs.readFile(file, { encoding: 'ascii', flag: 'a+' })); // makes it if nobody has yet
    if (pause) await sleep(Number(pause));
    await fs.writeFile(file, String(value + 1));
    await taker.giveBack(thread, name);
  }
  return done;
}

async function dispatch(taker, thread, command, args) {
  switch (command) {
    case 'lock':
      await taker.take(thread, args[1], args[2], null);
      return '';
    case 'try':
      return (await taker.take(thread, args[1], args[3], Number(args[2]))) ? 'yes' : 'no';
    case 'unlock':
      return taker.giveBack(thread, args[1]);
    case 'increment':
      return increment(taker, thread, args, (done) => done < Number(args[3]));
    case 'increment_for': {
      const end = micros() + BigInt(args[3]) * 1000n;
      return increment(taker, thread, args, () => micros() < end);
    }
    default:
      if (!taker.commands[command]) throw new Failure('usage', `no such command: ${command}`);
      return taker.commands[command](thread, args);
  }
}

// `newThread` makes what a thread remembers; `take(thread, name, lease, wait)` waits without a limit if `wait` is null;
// `commands` are those that only this taker knows, or knows in a way of its own.
function serve(taker) {
  const threads = new Map(); // number -> {memory, last: the promise of the last command}

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
    if (command === 'connect') return carryOut(tag, () => taker.connect(...args));
    if (command === 'cancel') return carryOut(tag, () => 'no');
    const number = THREAD_COMMANDS.has(command) ? Number(args[0]) : 0;
    if (!threads.has(number)) threads.set(number, { memory: taker.newThread(), last: Promise.resolve() });
    const thread = threads.get(number);
    thread.last = thread.last.then(() => carryOut(tag, () => {
      if (!taker.connected()) throw new Failure('usage', 'not connected');
      return dispatch(taker, thread.memory, command, args);
    }));
    return thread.last;
  }

  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', submit);
  lines.on('close', () => process.exit(0));
}

module.exports = { Failure, micros, serve };
