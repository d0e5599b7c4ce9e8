import { describe, expect, it } from 'vitest'
import { isKnownAction, knownActions, typeOf } from '../../../../../src/server/slices/executions/actions.ts'

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

describe('typeOf', () => {
  it.each([
    ['a built-in action', 'reload_config', 'builtin'],
    ['a hook', 'drain', 'hook'],
    ['a built-in action before a hook of its name', 'ping', 'builtin'],
    ['nothing', 'dorain', undefined],
  ])('finds %s by the name of the action', (_what, action, type) => {
    expect(typeOf(action, HOOKS)).toBe(type)
  })
})

const BUILTINS = 'must be one of ping, collect_diagnostics, reload_config, restart_agent, upgrade_agent'

describe('knownActions', () => {
  it.each([
    [{ action: 'x', type: 'builtin' }, HOOKS, BUILTINS],
    [{ action: 'x', type: 'hook' }, HOOKS, 'must be a hook that the node declares: drain, ping'],
    [{ action: 'x', type: 'hook' }, [], 'names a hook, and the node declares none'],
    [{ action: 'x' }, HOOKS, `${BUILTINS}, or a hook of the node: drain, ping`],
    [{ action: 'x' }, [], BUILTINS],
    [
      { action: 'drain', type: 'builtin' },
      HOOKS,
      'names a hook of the node and no built-in action: ask for it with type hook',
    ],
  ] as const)('says for %j with %j what there is', (asked, hooks, sentence) => {
    expect(knownActions(asked, hooks)).toBe(sentence)
  })

  it('names 32 hooks at most', () => {
    const hooks = Array.from({ length: 33 }, (_, n) => ({ name: `h${n}` }))
    expect(knownActions({ action: 'x', type: 'hook' }, hooks)).toMatch(/h31, …$/)
    expect(knownActions({ action: 'x', type: 'hook' }, hooks.slice(1))).toMatch(/h31, h32$/)
  })
})
