import { describe, expect, it } from 'vitest'
import { isEnded, refusalOf } from '../../../../../src/cli/commands/node-sessions/refusals.ts'

const DOOR = { name: 'web-1', address: '100.64.0.3', target: '10.0.0.7:80' }

describe('An answer of the far agent other than ok', () => {
  it.each([
    ['refused not_live', 'the session has ended: ', 6, true],
    ['refused expired', 'the session has ended: ', 6, true],
    ['refused target_refused', 'the agent of web-1 lets no session reach 10.0.0.7:80', 5, false],
    ['refused target_unreachable', 'nothing answers at 10.0.0.7:80 on web-1', 8, false],
    ['refused too_many_connections', 'the session has as many connections as it may have', 7, false],
    ['refused unavailable', 'the agent of web-1 cannot verify the session', 8, false],
    ['refused wrong_node', 'the agent of web-1 refuses the session: wrong_node', 5, false],
    ['refused constructor', 'the agent of web-1 refuses the session: constructor', 5, false],
    ['SSH-2.0-OpenSSH_9.2', 'web-1 answers on the port of sessions, but not as an agent does', 8, false],
    ['refused \u001b[2J', 'web-1 answers on the port of sessions, but not as an agent does', 8, false],
  ])('%j is an error that says what it means', (answer, message, exitCode, ended) => {
    const error = refusalOf(answer, DOOR)
    expect([error.message, error.exitCode, isEnded(error)]).toEqual([expect.stringContaining(message), exitCode, ended])
  })
})
