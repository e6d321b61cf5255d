# SPDX-License-Identifier: Apache-2.0
"""Tests of the pure parts: /usr/bin/python3 -B -m unittest discover -s bench/harness -p '*_test.py'"""
