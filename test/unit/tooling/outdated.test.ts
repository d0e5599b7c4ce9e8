import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judge } from '../../../scripts/lib/outdated.mjs'

/** What `npm outdated --json` printed on Node 20 in November 2026, but for members that are not read. */
const OUTDATED = {
  jose: { current: '6.2.17', wanted: '6.2.17', latest: '6.2.18' },
  'light-my-request': { current: '6.6.0', wanted: '6.6.0', latest: '6.8.1' },
}
/** What `npm view NAME version engines --json` printed then. */
const NEWEST = {
  'light-my-request': { version: '6.8.1' },
  kysely: { version: '0.29.9', engines: { node: '>=22.0.0' } },
}
const HELD_BACK = {
  kysely: { reason: '0.29 needs Node 22.', needs_node: '22' },
  'light-my-request': { reason: 'Its cookie parser needs Node 22.' },
}

describe('the check of outdated dependencies', () => {
  test('names each package that is behind, and complains of those without a reason', () => {
    const { rows, complaints } = judge({ outdated: OUTDATED, newest: NEWEST, heldBack: HELD_BACK })
    expect(rows).toEqual([
      'jose  6.2.17  6.2.18  can be updated',
      'light-my-request  6.6.0  6.8.1  Its cookie parser needs Node 22.',
      'kysely  0.29.9  0.29 needs Node 22.',
    ])
    expect(complaints).toEqual(['jose 6.2.17 can be updated to 6.2.18, or needs a reason.'])
  })

  test('has nothing to say where all is at its newest or has its reason', () => {
    const { 'light-my-request': held } = OUTDATED
    const outdated = { 'light-my-request': held }
    expect(judge({ outdated, newest: NEWEST, heldBack: HELD_BACK }).complaints).toEqual([])
    expect(judge({ outdated: {}, newest: {}, heldBack: {} })).toEqual({ rows: [], complaints: [] })
  })

  test.each([
    [
      'the newest version runs on the oldest supported Node',
      { ...NEWEST, kysely: { version: '0.30.0', engines: { node: '>=20' } } },
      'kysely is held back since it needs Node 22, but 0.30.0 does not.',
    ],
    [
      'the package is gone',
      { ...NEWEST, kysely: undefined },
      'kysely is held back, but the registry has no such package.',
    ],
  ])('complains of a reason that no longer holds: %s', (_why, newest, complaint) => {
    const { 'light-my-request': held } = OUTDATED
    const outdated = { 'light-my-request': held }
    expect(judge({ outdated, newest, heldBack: HELD_BACK }).complaints).toEqual([complaint])
  })

  test('complains of a reason for a package that is at its newest', () => {
    const complaint = 'light-my-request is held back, but it is at its newest.'
    expect(judge({ outdated: {}, newest: NEWEST, heldBack: HELD_BACK }).complaints).toEqual([complaint])
  })

  test('compares both manifests of the project, and holds back only packages that they ask for, each with a sentence', () => {
    const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
    const heldBack = read('scripts/held-back.json') as Record<string, Record<string, { readonly reason: string }>>
    expect(Object.keys(heldBack)).toEqual(['package.json', 'tools/openapi/package.json'])
    for (const [path, held] of Object.entries(heldBack)) {
      const { dependencies, devDependencies } = read(path) as Record<string, object>
      expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(expect.arrayContaining(Object.keys(held)))
      for (const { reason } of Object.values(held)) expect(reason).toMatch(/^.{10,}\.$/)
    }
  })
})
