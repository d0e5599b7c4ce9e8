import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseRate, parseShare } from '../../../../src/cli/agent-sim/shares.ts'
import { readScenario } from '../../../../src/cli/agent-sim/scenario/read-scenario.ts'
import { durationMsOf } from '../../../../src/cli/agent-sim/scenario/scenario.ts'

const EXAMPLES = new URL('../../../../examples/scenarios/', import.meta.url)

describe('a scenario', () => {
  test.each([
    ['everyday.yaml', 60_000],
    ['faults.yaml', 95_000],
    ['server-restart.yaml', 75_000],
    ['storm.yaml', 60_000],
  ])('%s is valid', (file, durationMs) => {
    expect(durationMsOf(readScenario(readFileSync(new URL(file, EXAMPLES), 'utf8')))).toBe(durationMs)
  })

  test('every example is in this list', () => {
    expect(readdirSync(EXAMPLES)).toHaveLength(4)
  })

  test('sets the rates, and the faults of each phase', () => {
    const scenario = readScenario(`
edges: 2
execution_failures: 50%
rates: { reports: 6%/h }
phases:
  - name: skewed
    duration: 1m30s
    rates: { pulls: 1%/s }
    faults:
      clock_skew: { share: 5%, skew: 90s }
      server_restart:
      reconnect_herd:
`)
    expect(scenario).toEqual({
      edges: 2,
      executionFailures: 0.5,
      binaries: {},
      rates: { reports: expect.closeTo(0.001) },
      phases: [
        {
          name: 'skewed',
          durationMs: 90_000,
          rates: { pulls: expect.closeTo(0.6) },
          faults: [
            { kind: 'clock_skew', share: 0.05, skewMs: 90_000 },
            { kind: 'server_restart' },
            { kind: 'reconnect_herd', share: 1 },
          ],
        },
      ],
    })
  })

  test.each([
    ['phases:\n  - duration: 5s\n    fault: {}\n', 3, 'phases[0].fault is not known here; did you mean faults?'],
    [
      'phases:\n  - duration: 5s\n    faults:\n      clok_skew: {}\n',
      4,
      'phases[0].faults.clok_skew is not known here; did you mean clock_skew?',
    ],
    [
      'phases:\n  - duration: 5s\n    faults:\n      clock_skew:\n        by: 61s\n',
      5,
      'phases[0].faults.clock_skew.by is not known here; there is share, skew',
    ],
    ['phases:\n  - duration: 5 apples\n', 2, 'phases[0].duration: must be a duration such as 30s or 2m'],
    ['phases:\n  - name: x\n', 2, 'phases[0]: needs a duration'],
    ['edges: 65\nphases:\n  - duration: 1s\n', 1, 'edges: must be a whole number from 0 to 64'],
    ['rates:\n  pulls: 1%\nphases: []\n', 2, 'rates.pulls: must be a rate such as 1%/min or 5%/s'],
    ['execution_failures: 101%\n', 1, 'execution_failures: must be a share from 0% to 100%'],
    ['name: x\n', 1, 'phases: there must be one at least'],
    ['phases: 5\n', 1, 'phases: must be a list'],
    ['name: x\nname: y\nphases: []\n', 2, 'Map keys must be unique'],
    [
      '- 1\n',
      1,
      'must have members: name, edges, execution_failures, upgrade_failures, wrong_checksums, binary_version, binary_checksum, architectures, rates, phases',
    ],
  ])('%j is refused on line %i: %s', (text, line, message) => {
    expect(() => readScenario(text)).toThrow(expect.objectContaining({ line, message }))
  })
})

test.each([
  ['1%/min', 0.01],
  ['0.5%/s', 0.3],
  ['60%/h', 0.01],
  ['1%', undefined],
  ['1/min', undefined],
])('the rate %s is %s of the fleet per minute', (text, rate) => {
  expect(parseRate(text)).toEqual(rate === undefined ? undefined : expect.closeTo(rate))
})

test.each([
  ['10%', 0.1],
  ['100%', 1],
  ['101%', undefined],
  ['0.1', undefined],
])('the share %s is %s', (text, share) => {
  expect(parseShare(text)).toBe(share)
})
