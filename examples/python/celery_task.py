# SPDX-License-Identifier: Apache-2.0
"""A base for Celery's tasks of which one may run at a time for each argument:

    @app.task(base=Exclusive, bind=True, lock="report-{customer}")
    def report(self, customer): ...

A task that finds the lock taken is retried later, as often as it needs; Celery counts that with the task's own retries. Each
worker process has a client of its own, since Celery forks them."""

import functools
import inspect
import os

import celery
import holdfast


@functools.lru_cache(maxsize=None)
def client_of(process: int) -> holdfast.Client:
    return holdfast.connect(os.environ.get("HOLDFAST_URL", "redis://127.0.0.1:6379"))


class Exclusive(celery.Task):
    abstract = True
    lock = ""  # its name; {argument} stands for an argument of the task
    retry_in = 10  # seconds

    def __call__(self, *args, **kwargs):
        bound = inspect.signature(self.run).bind(*args, **kwargs)
        bound.apply_defaults()
        lock = client_of(os.getpid()).lock(self.lock.format(**bound.arguments))
        hold = lock.acquire(blocking=False)
        if hold is None:
            raise self.retry(countdown=self.retry_in, max_retries=10**9)
        with hold:
            return super().__call__(*args, **kwargs)
