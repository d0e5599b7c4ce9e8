import { describe, expect, it } from 'vitest'
import { isKnownAction, knownActions } from '../../../../src/server/executions/actions.ts'

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

describe('knownActions', () => {
  it.each([
    ['builtin', HOOKS, 'must be one of ping, collect_diagnostics, reload_config, restart_agent, upgrade_agent'],
    ['hook', HOOKS, 'must be a hook that the node declares: drain, ping'],
    ['hook', [], 'names a hook, and the node declares none'],
  ] as const)('says for %s with %j what there is', (type, hooks, sentence) => {
    expect(knownActions(type, hooks)).toBe(sentence)
  })

  it('names 32 hooks at most', () => {
    const hooks = Array.from({ length: 33 }, (_, n) => ({ name: `h${n}` }))
    expect(knownActions('hook', hooks)).toMatch(/h31, …$/)
    expect(knownActions('hook', hooks.slice(1))).toMatch(/h31, h32$/)
  })
})
