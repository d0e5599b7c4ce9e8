import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { SliceModule } from '../../../src/server/composition/slice-module.ts'
import { SHARED_EVENTS, type OutboxLiteral } from '../../../src/server/ports/outbox-events.ts'
import type { Tables } from '../../../src/server/ports/tables/tables.ts'

const SERVER = fileURLToPath(new URL('../../../src/server', import.meta.url))

const SOURCES = readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !file.includes('/migrations/'))
  .map((file) => ({ file, text: withoutComments(readFileSync(join(SERVER, file), 'utf8')) }))

/** What the files are compared by: a slice, or a folder of the server beside them. */
function ownerOf(file: string): string {
  const [folder = '', slice = ''] = file.split('/')
  return folder === 'slices' ? `slices/${slice}` : folder
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
}

/** Owners by what the pattern's first group that matches says. */
function ownersBy(pattern: RegExp, sources = SOURCES): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  for (const { file, text } of sources)
    for (const [, ...groups] of text.matchAll(pattern)) {
      const name = groups.find((group) => group !== undefined) ?? ''
      owners.set(name, (owners.get(name) ?? new Set()).add(ownerOf(file)))
    }
  return owners
}

/** Whether one slice names it, and nothing else does. */
function isOfOneSlice(owners: ReadonlySet<string> = new Set()): boolean {
  const [owner = ''] = owners
  return owners.size === 1 && owner.startsWith('slices/')
}

const BUILDERS = 'selectFrom|insertInto|updateTable|deleteFrom|\\w*[jJ]oin'

/** Who names a table in a statement, by table. */
const STATEMENTS = ownersBy(
  new RegExp(`(?:${BUILDERS})\\(\\[?\\s*['"\`](\\w+)|table: '(\\w+)'|\\b(?:from|into|update|join)\\s+(\\w+)`, 'g'),
)

const CHAPTERS = SOURCES.filter(({ file }) => file.startsWith('ports/tables/'))
const SHARED_TABLES = CHAPTERS.flatMap(({ text }) => {
  const [, rows = ''] = /export interface \w+Tables \{([^}]*)\}/.exec(text) ?? []
  return [...rows.matchAll(/^ {2}(\w+): /gm)].map(([, table = '']) => table)
})

describe('A table', () => {
  test('is found in its chapter, and by those who name it', () => {
    expect(SHARED_TABLES).toContain('domains')
    expect(STATEMENTS.get('used_assertions')).toEqual(new Set(['slices/workloads']))
  })

  test('that one slice alone names is declared in its folder', () => {
    const own = SHARED_TABLES.filter((table) => isOfOneSlice(STATEMENTS.get(table)))
    expect(own).toEqual([])
  })

  test('of a slice is a table of the datastore', () => {
    expectTypeOf<'invitations' | 'sign_ins'>().toExtend<keyof Tables>()
    expectTypeOf<'inventions'>().not.toExtend<keyof Tables>()
  })
})

describe('An outbox event', () => {
  test('that one slice alone names is declared in its folder', () => {
    const outsidePorts = SOURCES.filter(({ file }) => !file.startsWith('ports/'))
    const literals = ownersBy(/'([\w.]+)'/g, outsidePorts)
    const own = Object.keys(SHARED_EVENTS).filter((literal) => isOfOneSlice(literals.get(literal)))
    expect(own).toEqual([])
  })

  test('of a slice is one that a change can emit', () => {
    expectTypeOf<'GroupCreated' | 'session_issued'>().toExtend<OutboxLiteral>()
  })

  test('has a payload and an audience', () => {
    type With<Declaration> = { createSlice: () => object; events: { SomethingHappened: Declaration } }
    const audience = { to: 'nobody' } as const
    const payload = z.object({ id: z.string() })
    expectTypeOf<With<{ audience: typeof audience; payload: typeof payload }>>().toExtend<SliceModule>()
    expectTypeOf<With<{ audience: typeof audience }>>().not.toExtend<SliceModule>()
    expectTypeOf<With<{ payload: typeof payload }>>().not.toExtend<SliceModule>()
  })
})
