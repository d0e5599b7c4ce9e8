import { expect } from 'vitest'
import { pageSourceOf, type Operation } from '../../../src/shared/contract/operation.ts'
import type { ValidCall } from '../scenario.ts'
import { send, wireOf, type ConformanceWorld, type Sent, type Subject } from './rule.ts'

/** A row of a list. */
export type Row = Readonly<Record<string, unknown>>

export interface Page {
  readonly items: readonly Row[]
  /** Cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** Pages that a walk reads at most: more is a list that does not end. */
const PAGES_MAX = 400

export const isPaged = ({ paging }: Operation): boolean => paging !== undefined

const arrangedIn = new WeakMap<ConformanceWorld, Map<string, Promise<ValidCall>>>()

/** A list of three rows at least, which may only be read: each world arranges one for each list. */
export function arrangeRows(subject: Subject): Promise<ValidCall> {
  const { id, world } = subject
  const arranged = arrangedIn.get(world) ?? new Map<string, Promise<ValidCall>>()
  arrangedIn.set(world, arranged)
  const call = arranged.get(id) ?? arrangeThree(subject)
  arranged.set(id, call)
  return call
}

async function arrangeThree(subject: Subject): Promise<ValidCall> {
  await subject.arrange()
  await subject.arrange()
  return subject.arrange()
}

/** Asks for a page of so many rows, after a cursor if there is one. */
export function askPage(subject: Subject, call: ValidCall, page: { limit: number; cursor?: string }): Promise<Sent> {
  return send(subject, wireOf(subject, { ...call, input: withPage(subject, call, page) }), call.as)
}

/** The input of a call that also asks for a page, where the list reads it from. */
export function withPage({ operation }: Subject, { input }: ValidCall, page: object): ValidCall['input'] {
  const body = input['body'] as object | undefined
  return pageSourceOf(operation) === 'body' ? { ...input, body: { ...body, ...page } } : { ...input, ...page }
}

/** A page of one row, and the cursor of the next. */
export async function firstRow(subject: Subject, call: ValidCall, cursor?: string) {
  const page = pageIn(await askPage(subject, call, { limit: 1, ...(cursor !== undefined && { cursor }) }))
  expect(page.next, 'the scenario arranges too few rows').toEqual(expect.any(String))
  return { items: page.items, cursor: String(page.next) }
}

/** The rows of a list from the first one on, read page by page until it ends or `isEnough` says so. */
export async function walk(
  subject: Subject,
  call: ValidCall,
  { limit, isEnough = () => false }: { readonly limit: number; readonly isEnough?: (rows: readonly Row[]) => boolean },
): Promise<readonly Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const { items, next } = pageIn(await askPage(subject, call, { limit, ...(cursor !== undefined && { cursor }) }))
    expect(items.length, 'rows of a page').toBeLessThanOrEqual(limit)
    rows.push(...items)
    if (next === undefined || isEnough(rows)) return rows
    cursor = next
  }
  throw new Error(`the list has not ended after ${PAGES_MAX} pages`)
}

function pageIn({ answer }: Sent): Page {
  expect(answer.status, answer.text).toBe(200)
  const next = answer.json?.['next_cursor']
  // Every list answers with its rows in `items`; the document is held to that elsewhere.
  return { items: answer.json?.['items'] as readonly Row[], next: typeof next === 'string' ? next : undefined }
}
