// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"math/bits"
	"time"
)

// histogram counts lengths with an error of 0.8 % at most. Each caller has one, of a fixed and small size: arrays of
// samples would enlarge the heap, and make Go's collector run less often than the library under test would have it.
type histogram struct {
	counts  [octaves * steps]uint32
	total   int64
	longest time.Duration
}

const (
	stepBits = 6
	steps    = 1 << stepBits // in each octave
	octaves  = 34            // from 64 ns up to 18 minutes
)

func (h *histogram) add(length time.Duration) {
	n := uint64(max(length, steps))
	octave := bits.Len64(n) - 1 - stepBits
	index := octave*steps + int(n>>octave) - steps
	h.counts[min(index, len(h.counts)-1)]++
	h.total++
	h.longest = max(h.longest, length)
}

func (h *histogram) merge(other *histogram) {
	for i, count := range other.counts {
		h.counts[i] += count
	}
	h.total += other.total
	h.longest = max(h.longest, other.longest)
}

// quantile is the middle of the step that holds the sample of this rank, in microseconds.
func (h *histogram) quantile(share float64) float64 {
	rank := int64(share * float64(h.total-1))
	for i, count := range h.counts {
		rank -= int64(count)
		if rank < 0 {
			octave := i / steps
			low := float64(uint64(steps+i%steps) << octave)
			return min(low+float64(uint64(1)<<octave)/2, float64(h.longest)) / 1e3
		}
	}
	return 0
}

// summary adds p50, p99 and max to an answer.
func (h *histogram) summary(answer map[string]any, prefix string) {
	answer[prefix+"p50_us"] = rounded(h.quantile(0.50))
	answer[prefix+"p99_us"] = rounded(h.quantile(0.99))
	answer[prefix+"max_us"] = rounded(float64(h.longest) / 1e3)
}

func rounded(number float64) float64 { return float64(int64(number*100+0.5)) / 100 }
