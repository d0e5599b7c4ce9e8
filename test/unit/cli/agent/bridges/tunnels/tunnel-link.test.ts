import { expect, test } from 'vitest'
import { linkFault } from '../../../../../../src/cli/agent/bridges/tunnels/tunnel-link.ts'
import type { RunProgram } from '../../../../../../src/cli/agent/system/run-program.ts'

const run: RunProgram = () => Promise.reject(new Error('No program is needed to see whether an interface is there.'))

test('a tunnel whose interface was removed by another program is named, with the way out', () => {
  expect(linkFault({ run, name: 'lo' })).toBeUndefined()
  expect(linkFault({ run, name: 's2so01234567890' })).toBe(
    'Another program has removed the interface s2so01234567890; stop the agent and start it again.',
  )
})
