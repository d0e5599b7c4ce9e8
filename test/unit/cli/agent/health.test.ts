import { expect, test } from 'vitest'
import { createHealth } from '../../../../src/cli/agent/health.ts'

test('A rotation that the server has forgotten is logged, with the command that requests it again', () => {
  const lines: string[] = []
  const health = createHealth({ line: (text) => void lines.push(text), close: () => undefined }, () => 0)
  health.count('undone_rotations')
  expect(lines).toEqual([expect.stringContaining('ctl nodes rotate')])
})

test('A refusal that comes again and again is logged once in ten minutes, with how often it came', () => {
  const lines: string[] = []
  let nowMs = 0
  const health = createHealth({ line: (text) => void lines.push(text), close: () => undefined }, () => nowMs)
  for (; nowMs < 1_200_000; nowMs += 1_000) health.failed('heartbeat', 'clock_skew')
  health.failed('capabilities', 'forbidden')
  expect(lines).toEqual([
    'heartbeat: the server refuses it (clock_skew)',
    'heartbeat: the server refuses it (clock_skew), and 599 times more since 1970-01-01T00:00:00.000Z',
    'capabilities: the server refuses it (forbidden)',
  ])
})
