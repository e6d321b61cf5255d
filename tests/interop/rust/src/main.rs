// SPDX-License-Identifier: Apache-2.0
//! A taker on the crate redisson: takes and gives back locks as it is told. The protocol is described in tests/README.md.

mod line;
mod locks;

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use line::{decode, encode, micros};
use locks::Lock;
use redisson::{RLock, RRedLock, RReadWriteLock, RedissonClient, RedissonConfig, RedissonError};

/// The word and the text of an error.
type Outcome = Result<String, (&'static str, String)>;

const OF_THREADS: [&str; 8] = ["lock", "try", "unlock", "mine", "count", "increment", "increment_for", "counting"];

fn failed(error: RedissonError) -> (&'static str, String) {
    ("failed", error.to_string())
}

fn yes(it: bool) -> Outcome {
    Ok(if it { "yes" } else { "no" }.to_string())
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse::<f64>().unwrap_or(0.0) as u64)
}

struct Taker {
    clients: Vec<RedissonClient>,
    kind: String,
    lease: Duration,
}

impl Taker {
    fn connect(args: &[String]) -> Result<Taker, (&'static str, String)> {
        let mut taker = Taker { clients: Vec::new(), kind: "lock".into(), lease: Duration::from_secs(30) };
        for setting in &args[1..] {
            match setting.split_once('=') {
                Some(("lease_ms", value)) => taker.lease = milliseconds(value),
                Some(("kind", value)) => taker.kind = value.into(),
                _ => {}
            }
        }
        for url in args[0].split(',') {
            let config = RedissonConfig::single_server(url).with_watchdog_timeout(taker.lease);
            taker.clients.push(RedissonClient::new(config).map_err(failed)?);
        }
        Ok(taker)
    }

    fn client(&self) -> &RedissonClient {
        &self.clients[0]
    }

    fn plain(&self, name: &str, lease: Duration) -> RLock {
        RLock::new(self.client().get_connection_manager().clone(), name.into(), lease)
    }

    fn lock(&self, name: &str) -> Box<dyn Lock> {
        let client = self.client();
        match self.kind.as_str() {
            "fair" => Box::new(client.get_fair_lock(name)),
            "multi" => Box::new(client.get_multi_lock(name.split(',').map(String::from).collect())),
            "red" => {
                let all = self.clients.iter().map(|each| each.get_connection_manager().clone()).collect();
                Box::new(RRedLock::new(all, name.into(), self.lease))
            }
            "read_write" => {
                let both = |name: &str| -> RReadWriteLock { client.get_read_write_lock(name, self.lease) };
                match name.strip_prefix("read:") {
                    Some(name) => Box::new(both(name).read_lock()),
                    None => Box::new(both(name).write_lock()),
                }
            }
            _ => Box::new(client.get_lock(name)),
        }
    }

    /// Semaphores and latches are made by asking for them.
    fn counting(&self, what: &str, name: &str, number: usize) -> Outcome {
        let client = self.client();
        let semaphore = || client.get_semaphore(name, number);
        let latch = || client.get_count_down_latch(name, number as i32);
        match what {
            "semaphore.try" => yes(semaphore().try_acquire(1, Duration::ZERO).map_err(failed)?),
            "semaphore.available" => Ok(semaphore().available_permits().map_err(failed)?.to_string()),
            "latch.set" => yes(latch().try_set_count(number as i32).map_err(failed)?),
            "latch.count" => Ok(latch().get_count().map_err(failed)?.to_string()),
            _ => Err(("usage", format!("no such command: counting {what}"))),
        }
    }
}

/// What one thread remembers: a lock object of the crate is a holder of its own.
struct Thread {
    taker: Arc<Taker>,
    locks: HashMap<String, Box<dyn Lock>>,
}

impl Thread {
    fn of(&mut self, name: &str) -> &dyn Lock {
        let taker = &self.taker;
        let lock = self.locks.entry(name.into()).or_insert_with(|| taker.lock(name));
        &**lock
    }

    fn increment(&mut self, args: &[String], goes_on: impl Fn(u64) -> bool) -> Outcome {
        let io = |error: io::Error| ("failed", error.to_string());
        let mut done = 0;
        while goes_on(done) {
            self.of(&args[1]).lock(None).map_err(failed)?;
            let value: u64 = fs::read_to_string(&args[2]).unwrap_or_default().trim().parse().unwrap_or(0);
            if let Some(pause) = args.get(4) {
                thread::sleep(milliseconds(pause));
            }
            fs::write(&args[2], (value + 1).to_string()).map_err(io)?;
            self.of(&args[1]).unlock().map_err(failed)?;
            done += 1;
        }
        Ok(done.to_string())
    }

    fn dispatch(&mut self, command: &str, args: &[String]) -> Outcome {
        let lease = |at: usize| args.get(at).map(|text| milliseconds(text)).filter(|lease| !lease.is_zero());
        match command {
            "lock" => self.of(&args[1]).lock(lease(2)).map(|()| String::new()).map_err(failed),
            "try" => {
                if let (Some(lease), "lock") = (lease(3), self.taker.kind.as_str()) {
                    // Only an object that is made with the lease can try to get it.
                    let lock = self.taker.plain(&args[1], lease);
                    self.locks.insert(args[1].clone(), Box::new(lock));
                }
                yes(self.of(&args[1]).try_lock(milliseconds(&args[2])).map_err(failed)?)
            }
            "unlock" => match self.of(&args[1]).unlock().map_err(failed)? {
                true => Ok("released".into()),
                false => Err(("not_owner", "unlock answers false".into())),
            },
            "mine" => yes(self.of(&args[1]).mine()),
            "increment" => {
                let times: u64 = args[3].parse().unwrap_or(0);
                self.increment(args, |done| done < times)
            }
            "increment_for" => {
                let end = micros() + milliseconds(&args[3]).as_micros() as i64;
                self.increment(args, |_| micros() < end)
            }
            "counting" => self.taker.counting(&args[1], &args[2], args[3].parse().unwrap_or(0)),
            "force" => yes(self.taker.plain(&args[0], self.taker.lease).force_unlock().map_err(failed)?),
            "locked" => yes(self.taker.plain(&args[0], self.taker.lease).is_locked().map_err(failed)?),
            "ttl" => match self.taker.plain(&args[0], self.taker.lease).remaining_time().map_err(failed)? {
                Duration::ZERO => Ok("none".into()),
                left => Ok(left.as_millis().to_string()),
            },
            "close" => self.taker.client().shutdown().map(|()| String::new()).map_err(failed),
            _ => Err(("usage", format!("no such command: {command}"))),
        }
    }
}

fn answer(tag: &str, began: i64, outcome: Outcome) {
    let mut fields = vec![tag.to_string(), began.to_string(), micros().to_string()];
    match outcome {
        Ok(value) => fields.extend(["ok".into(), value]),
        Err((word, text)) => fields.extend(["error".into(), word.into(), text]),
    }
    let line = fields.iter().map(|field| encode(field)).collect::<Vec<_>>().join(" ");
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

type Line = (String, String, Vec<String>);

fn work(lines: Receiver<Line>, taker: Arc<Taker>) {
    let mut thread = Thread { taker, locks: HashMap::new() };
    for (tag, command, args) in lines {
        let began = micros();
        answer(&tag, began, thread.dispatch(&command, &args));
    }
}

fn main() {
    let taker: Mutex<Option<Arc<Taker>>> = Mutex::new(None);
    let mut threads: HashMap<String, Sender<Line>> = HashMap::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let mut fields = line.split(' ').map(decode);
        let (tag, command) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let args: Vec<String> = fields.collect();
        let began = micros();
        let connected = taker.lock().unwrap().clone();
        match (command.as_str(), connected) {
            ("exit", _) => break,
            ("cancel", _) => answer(&tag, began, Ok("no".into())),
            ("connect", _) => {
                let made = Taker::connect(&args);
                let outcome = match made {
                    Ok(made) => {
                        *taker.lock().unwrap() = Some(Arc::new(made));
                        Ok("redisson".into())
                    }
                    Err(error) => Err(error),
                };
                answer(&tag, began, outcome);
            }
            (_, None) => answer(&tag, began, Err(("usage", "not connected".into()))),
            (word, Some(taker)) => {
                let number = if OF_THREADS.contains(&word) { args[0].clone() } else { "0".into() };
                let thread = threads.entry(number).or_insert_with(|| {
                    let (sender, lines) = channel();
                    thread::spawn(move || work(lines, taker));
                    sender
                });
                let _ = thread.send((tag, command, args));
            }
        }
    }
    std::process::exit(0); // whoever still waits is not waited for
}
