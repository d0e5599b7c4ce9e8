import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  problem,
  PROBLEMS,
  problemType,
  type ExtrasOf,
  type InvalidCode,
  type PlainProblemCode,
  type ProblemCode,
} from '../../../src/shared/problems.ts'

/** The documents of the codes that clients know, without the members that differ from one answer to the next. */
const KNOWN = JSON.parse(readFileSync(new URL('problem-documents.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, unknown>
>

const CODES = Object.keys(PROBLEMS) as ProblemCode[]

async function codesOfChapters(): Promise<string[]> {
  const folder = new URL('../../../src/shared/problems/', import.meta.url)
  const files = readdirSync(folder).filter((file) => file !== 'row.ts')
  const chapters = await Promise.all(files.map((file) => import(new URL(file, folder).href) as Promise<object>))
  return chapters.flatMap((chapter) => Object.values(chapter).flatMap((rows: object) => Object.keys(rows)))
}

test('a known code keeps its type, status, title and detail', () => {
  const documents = CODES.map((code) => {
    const { status, title, detail } = PROBLEMS[code]
    return [code, { type: problemType(code), status, title, detail }] as const
  })
  expect(Object.fromEntries(documents)).toMatchObject(KNOWN)
})

test('each code is in one chapter, and each chapter in the catalogue', async () => {
  expect((await codesOfChapters()).toSorted()).toEqual(CODES.toSorted())
})

describe('a problem', () => {
  test('has the members of its code', () => {
    expectTypeOf<ExtrasOf<'project_not_empty'>>().toEqualTypeOf<{ readonly counts: Readonly<Record<string, number>> }>()
    expect(problem('project_not_empty', { counts: { nodes: 2 } }).extras).toEqual({ counts: { nodes: 2 } })
    // @ts-expect-error: the counts are missing
    problem('project_not_empty')
    // @ts-expect-error: a count is a number
    problem('project_not_empty', { counts: { nodes: '2' } })
    // @ts-expect-error: the code has no such member
    problem('project_not_empty', { counts: {}, dimension: 'nodes' })
  })

  test('of a code without members takes none', () => {
    expect(problem('node_not_found').extras).toEqual({})
    // @ts-expect-error: the code has no members
    problem('node_not_found', { reason: 'gone' })
  })

  test('of a code that is not known yet takes only what each of the codes takes', () => {
    const make = (code: ProblemCode) =>
      // @ts-expect-error: some codes need members
      problem(code)
    expect(make('internal').status).toBe(500)
    const plain = (code: PlainProblemCode) => problem(code)
    expect(plain('not_found').extras).toEqual({})
    const invalid = (code: InvalidCode) => problem(code, { errors: [{ pointer: '/a', detail: 'must be b' }] })
    expect(invalid('invalid_body').extras).toEqual({ errors: [{ pointer: '/a', detail: 'must be b' }] })
    expectTypeOf<'project_not_empty'>().not.toExtend<PlainProblemCode | InvalidCode>()
    expectTypeOf<'node_not_found'>().not.toExtend<InvalidCode>()
  })

  test('keeps its cause to itself', () => {
    const cause = new Error('inner')
    const made = problem('datastore_unavailable', {}, cause)
    expect([made.cause, made.message]).toEqual([cause, PROBLEMS.datastore_unavailable.detail])
  })
})
