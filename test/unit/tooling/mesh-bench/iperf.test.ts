import { describe, expect, test } from 'vitest'
import { parseIperf } from '../../../bench/support/mesh/iperf.mjs'

/** What iperf3 3.12 prints, without the intervals. */
const PRINTED = {
  start: { version: 'iperf 3.12', test_start: { protocol: 'TCP', num_streams: 1, duration: 2 } },
  intervals: [],
  end: {
    streams: [],
    sum_sent: { start: 0, end: 2, seconds: 2, bytes: 110_100_480, bits_per_second: 440_401_920, retransmits: 37 },
    sum_received: { start: 0, end: 2.01, seconds: 2, bytes: 105_000_000, bits_per_second: 417_910_447 },
    cpu_utilization_percent: { host_total: 12.5, remote_total: 20.1 },
  },
}

describe('the output of iperf3', () => {
  test('is read as what the receiver counted, not what the sender wrote', () => {
    expect(parseIperf(JSON.stringify(PRINTED))).toEqual({
      bytes: 105_000_000,
      bitsPerSecond: 417_910_447,
      retransmits: 37,
    })
  })

  test('has no retransmits where the kernel does not count them', () => {
    const end = { ...PRINTED.end, sum_sent: { bytes: 1 } }
    expect(parseIperf(JSON.stringify({ ...PRINTED, end }))).toMatchObject({ retransmits: 0 })
  })

  test('is refused with the error that it has', () => {
    const text = JSON.stringify({ start: {}, end: {}, error: 'unable to connect to server: Connection refused' })
    expect(() => parseIperf(text)).toThrow('iperf3: unable to connect to server: Connection refused')
  })

  test('is refused where nothing arrived, so that no ratio is made of it', () => {
    const end = { ...PRINTED.end, sum_received: { bytes: 0, bits_per_second: 0 } }
    expect(() => parseIperf(JSON.stringify({ ...PRINTED, end }))).toThrow('the receiver got nothing')
    expect(() => parseIperf('{}')).toThrow('the receiver got nothing')
  })

  test('is refused where it is no JSON', () => {
    expect(() => parseIperf('iperf3: parameter error')).toThrow('iperf3 did not print JSON: iperf3: parameter error')
    expect(() => parseIperf('')).toThrow('iperf3 did not print JSON')
  })
})
