import { expect, test } from 'vitest'
import { combineReports } from '../../../../../src/server/slices/node-observations/violation-report.ts'

const base = { kind: 'binary', artifact: '/usr/bin/agent', detected_at: '2026-03-01T07:00:00Z' } as const
const AB = 'ab'.repeat(32)

test('reports of one violation are one entry, whichever way its checksum is written', () => {
  const base64 = Buffer.from(AB, 'hex').toString('base64')
  const reports = [
    { nodeId: 'n', acceptedAtMs: 2_000, violations: [{ ...base, observed_checksum: AB, expected_checksum: AB }] },
    {
      nodeId: 'n',
      acceptedAtMs: 1_000,
      violations: [{ ...base, observed_checksum: base64, detected_at: '2026-03-01T08:30:00+01:00' }],
    },
    { nodeId: 'n', acceptedAtMs: 3_000, violations: [{ ...base, observed_checksum: AB.toUpperCase() }] },
  ]
  expect(combineReports(reports)).toEqual([
    {
      nodeId: 'n',
      kind: 'binary',
      artifact: '/usr/bin/agent',
      observed: AB,
      expected: AB,
      occurrences: 3,
      detectedFromMs: Date.UTC(2026, 2, 1, 7, 0),
      detectedToMs: Date.UTC(2026, 2, 1, 7, 30),
      acceptedFromMs: 1_000,
      acceptedToMs: 3_000,
    },
  ])
})

test.each([
  ['node', { nodeId: 'm' }, {}],
  ['kind', {}, { kind: 'hook' as const }],
  ['artifact', {}, { artifact: '/usr/bin/other' }],
  ['observed checksum', {}, { observed_checksum: AB }],
])('another %s makes another entry', (_what, ofReport, ofViolation) => {
  const report = { nodeId: 'n', acceptedAtMs: 0, violations: [base] }
  const other = { ...report, ...ofReport, violations: [{ ...base, ...ofViolation }] }
  expect(combineReports([report, other, report]).map(({ occurrences }) => occurrences)).toEqual([2, 1])
})
