import { OTHER_PROJECT } from '../../support/server/fixture-callers.ts'
import type { Subject } from '../rules/rule.ts'
import type { WireAnswer } from '../wire.ts'
import { answering, lenient, text, withHeaders, type BrokenEdge, type Fault } from './fault.ts'

const CREATED = 'creates with 201 what its Location, or the list beside it, shows with the same members'
const HANDLE = 'refuses a handle that is taken, and stores and announces nothing'
const ELSEWHERE = 'takes a handle again in another Domain'
const PAGES = 'lists every row once and in its order, whatever the limit'
const EMPTY_PATCH = 'refuses a patch without members as empty_patch, and stores nothing'
const PATCHED = 'answers a patch with what GET, or the list of its objects, shows afterwards'
const SECOND_DELETE = 'answers the second DELETE as that of an object that is not there'
const GONE = 'answers a call that names a deleted object as if it had never been there'

type Row = Readonly<Record<string, unknown>>

/** What GET shows of an object has another slug. */
const showingAnother = answering((answer, { method }) =>
  method === 'GET' && answer.json !== undefined ? { ...answer, json: { ...answer.json, slug: 'another' } } : answer,
)

/** Other rows than the pages have whose limit is meant. */
const withRows = (isMeant: (path: string) => boolean, change: (rows: readonly Row[]) => readonly Row[]): BrokenEdge =>
  answering((answer, { path }) =>
    isMeant(path) ? { ...answer, json: { ...answer.json, items: change(rowsOf(answer)) } } : answer,
  )

const rowsOf = ({ json }: WireAnswer): readonly Row[] => (json?.['items'] ?? []) as readonly Row[]

const withStatus = (from: number, to: number): BrokenEdge =>
  answering((answer) => (answer.status === from ? { ...answer, status: to } : answer))

const isWhole = (path: string): boolean => path.includes('limit=200')

/** Servers that create, list, patch and delete in another way than they say. */
export const crudFaults: readonly Fault[] = [
  {
    fault: 'a creation is no 201',
    operation: 'CreateThing',
    rule: CREATED,
    edge: withStatus(201, 200),
    says: '201',
  },
  {
    fault: 'the Location of a creation leads nowhere',
    operation: 'CreateThing',
    rule: CREATED,
    edge: withHeaders({ location: '/v1/fixture/nowhere' }),
    says: 'operations at /v1/fixture/nowhere',
  },
  {
    fault: 'what was created is shown with another slug',
    operation: 'CreateThing',
    rule: CREATED,
    edge: showingAnother,
    says: "'another'",
  },
  {
    fault: 'a taken slug is taken once more',
    operation: 'CreateThing',
    rule: HANDLE,
    edge: withStatus(409, 201),
    says: 'status: 201',
  },
  {
    fault: 'a refused creation is announced',
    operation: 'CreateThing',
    rule: HANDLE,
    change: changing('outbox'),
    says: 'outbox',
  },
  {
    fault: 'every second creation is refused, whatever its slug',
    operation: 'CreateThing',
    rule: HANDLE,
    edge: refusingFrom(2),
    change: ({ world }) => ({ world: { ...world, stored: async () => ({}) } }),
    says: 'the handle alone was refused',
  },
  {
    fault: 'a slug is taken once in all Projects',
    operation: 'CreateThing',
    rule: ELSEWHERE,
    edge: answering((answer, { path }) => (path.includes(OTHER_PROJECT) ? { ...answer, status: 409 } : answer)),
    says: '409',
  },
  {
    fault: 'short pages leave a row out',
    operation: 'ListProjectThings',
    rule: PAGES,
    edge: withRows(
      (path) => !isWhole(path),
      (rows) => rows.slice(1),
    ),
    says: 'to deeply equal',
  },
  {
    fault: 'a row is listed twice',
    operation: 'ListOwnThings',
    rule: PAGES,
    edge: withRows(isWhole, (rows) => [...rows.slice(0, 1), ...rows.slice(0, -1)]),
    says: 'rows that are listed once',
  },
  {
    fault: 'rows are in another order',
    operation: 'ListThings',
    rule: PAGES,
    edge: withRows(isWhole, (rows) => rows.toReversed()),
    says: 'to deeply equal',
  },
  {
    fault: 'an empty patch changes nothing and succeeds',
    operation: 'PatchThing',
    rule: EMPTY_PATCH,
    edge: lenient((wire) => text(wire) === '{}'),
    says: 'status: 200',
  },
  {
    fault: 'an empty patch is refused and moves the time of the last change',
    operation: 'PatchThing',
    rule: EMPTY_PATCH,
    change: changing('things'),
    says: 'things',
  },
  {
    fault: 'a patch is answered and not stored',
    operation: 'PatchThing',
    rule: PATCHED,
    edge: showingAnother,
    says: "'another'",
  },
  {
    fault: 'an object can be deleted twice',
    operation: 'DeleteThing',
    rule: SECOND_DELETE,
    edge: withStatus(404, 204),
    says: 'status: 204',
  },
  {
    fault: 'a deleted object is forbidden',
    operation: 'ArchiveThing',
    rule: GONE,
    edge: withStatus(404, 403),
    says: 'status: 403',
  },
]

/** A table that is never twice the same. */
function changing(table: string): (subject: Subject) => Partial<Subject> {
  let looks = 0
  return ({ world }) => ({ world: { ...world, stored: async () => ({ [table]: String(looks++) }) } })
}

/** Refuses creations from that one on. */
function refusingFrom(first: number): BrokenEdge {
  let created = 0
  return answering((answer) => {
    if (answer.status !== 201) return answer
    created += 1
    return created < first ? answer : { ...answer, status: 409 }
  })
}
