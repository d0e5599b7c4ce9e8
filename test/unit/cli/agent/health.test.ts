import { expect, test } from 'vitest'
import { createHealth } from '../../../../src/cli/agent/health.ts'

test('A rotation that the server has forgotten is logged, with the command that requests it again', () => {
  const lines: string[] = []
  const health = createHealth({ line: (text) => void lines.push(text), close: () => undefined }, () => 0)
  health.count('undone_rotations')
  expect(lines).toEqual([expect.stringContaining('ctl nodes rotate')])
})
