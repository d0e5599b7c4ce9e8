import { describe, expect, it } from 'vitest'
import { isKnownAction } from '../../../../src/server/executions/actions.ts'

const HOOKS = [{ name: 'drain' }, { name: 'ping' }]

describe('isKnownAction', () => {
  it.each(['ping', 'collect_diagnostics', 'reload_config', 'restart_agent', 'upgrade_agent'])(
    'knows %s of every node',
    (action) => {
      expect(isKnownAction({ action, type: 'builtin' }, [])).toBe(true)
    },
  )

  it.each([
    ['a hook that is declared', 'hook', 'drain', true],
    ['a hook that has the name of a built-in action', 'hook', 'ping', true],
    ['a hook that is not declared', 'hook', 'reload_config', false],
    ['a hook asked for as a built-in action', 'builtin', 'drain', false],
    ['a member that every object has', 'builtin', 'constructor', false],
  ] as const)('tells of %s whether it is known', (_what, type, action, known) => {
    expect(isKnownAction({ action, type }, HOOKS)).toBe(known)
  })
})
