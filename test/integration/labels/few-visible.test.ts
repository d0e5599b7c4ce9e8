import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listPage } from '../../../src/server/http/list-page.ts'
import type { RequestContext } from '../../../src/server/http/request-context.ts'
import { readSelected, type SelectedObject, type SelectedObjects } from '../../../src/server/labels/selector-query.ts'
import type { CaveatFacts } from '../../../src/server/ports/authorizer.ts'
import { pageRange, type PagePosition } from '../../../src/server/ports/page-range.ts'
import type { Tuple } from '../../../src/server/ports/unit-of-work.ts'
import { createFewVisible, type FewVisible } from '../../../src/server/slices/object-search/few-visible.ts'
import { shownKind } from '../../../src/server/slices/object-search/found-object.ts'
import { searchPage } from '../../../src/server/slices/object-search/search-page.ts'
import { byKindAndId } from '../../../src/server/sql/keyset.ts'
import type { LabelKind } from '../../../src/shared/labels/label-kinds.ts'
import { ENGINE_KINDS, isEngineMissing, openReplica, useSpicedb, type Replica } from '../../support/authz/engines.ts'
import { emptyTables } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import {
  DOMAINS,
  labelWorlds,
  OBJECTS,
  PROJECTS,
  selectorsOver,
  storeWorld,
  type WorldObject,
} from '../../support/labels/label-world.ts'

/** A Monday morning in Berlin, in business hours. */
const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const PLATFORM = { domainId: null, projectId: null }

const FACTS: readonly CaveatFacts[] = [
  { nowMs: NOW_MS, sourceIp: '10.1.2.3' },
  { nowMs: NOW_MS, sourceIp: '192.0.2.1' },
  { nowMs: NOW_MS },
  { nowMs: Date.parse('2026-03-01T09:00:00Z'), sourceIp: '10.1.2.3' },
]

const CAVEATS = [
  {},
  {},
  { caveatName: 'from_network', caveatFields: ['source_ip', 'trusted_networks'] },
  { caveatName: 'within_hours', caveatFields: ['now', 'business_hours'] },
  { caveatName: 'strong_auth', caveatFields: ['acr', 'strong_acr'] },
]

/** Roles by the type of the object that has them. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  platform: ['viewer', 'admin'],
  domain: ['viewer', 'operator', 'admin'],
  project: ['viewer', 'deployer', 'admin'],
  node: ['viewer', 'operator'],
  resource: ['viewer'],
  network: ['viewer'],
}

const typeOf = ({ kind, subkind }: WorldObject): string => (subkind === 'network' ? subkind : kind)
const holders = OBJECTS.filter(({ kind }) => ['domain', 'project', 'node', 'resource'].includes(kind))

/** A role of the caller, or of a group that the caller is in. */
const bindings = fc
  .record({
    at: fc.constantFrom(...holders, ...holders, undefined),
    role: fc.nat(2),
    caveat: fc.constantFrom(...CAVEATS),
    isOfGroup: fc.boolean(),
  })
  .map(({ at, role, caveat, isOfGroup }) => {
    const type = at === undefined ? 'platform' : typeOf(at)
    const roles = ROLES[type] ?? []
    return {
      isOfGroup,
      domainId: at?.domain_id ?? null,
      relation: roles[role % roles.length] ?? 'viewer',
      resource: at === undefined ? 'platform:main' : `${type}:${at.id}`,
      ...(at === undefined ? {} : caveat),
    }
  })

type Role = Omit<Tuple, 'subject'> & { readonly isOfGroup: boolean; readonly domainId: string | null }

/** The first role of each binding: SpiceDB keeps one caveat of one, and a second is refused. */
function onePerBinding(roles: readonly Role[]): readonly Role[] {
  const bindingOf = ({ isOfGroup, relation, resource }: Role): string => `${isOfGroup} ${relation} ${resource}`
  return roles.filter((role, index) => roles.findIndex((one) => bindingOf(one) === bindingOf(role)) === index)
}

const KINDS: readonly (LabelKind | undefined)[] = [undefined, 'node', 'node', 'resource', 'network', 'project', 'cloud']

const questions = labelWorlds.chain((world) =>
  fc.record({
    world: fc.constant(world),
    roles: fc.array(bindings, { minLength: 1, maxLength: 4 }),
    asked: fc.array(
      fc.record({
        bound: fc.oneof(fc.constant({ requirements: [] }), selectorsOver(world.definitions)),
        scope: fc.constantFrom({}, {}, { domainId: DOMAINS[0] }, { domainId: DOMAINS[0], projectId: PROJECTS[1] }),
        kind: fc.constantFrom(...KINDS),
        gatheredMax: fc.constantFrom(0, 2_000),
        relation: fc.constantFrom('read', 'read', 'manage', 'node-operate'),
        facts: fc.constantFrom(...FACTS),
        pageSize: fc.constantFrom(3, 7, 50),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  }),
)

interface Question extends SelectedObjects {
  readonly relation: string
  readonly facts: CaveatFacts
  readonly pageSize: number
}

/** With these, each caller sees a part of what matches at least once, unless its roles show everything. */
const someNode = OBJECTS.find(({ kind }) => kind === 'node')?.id ?? ''
const ALWAYS_HELD: Role = { isOfGroup: true, domainId: DOMAINS[0], relation: 'viewer', resource: `node:${someNode}` }
const ALWAYS_ASKED: Question = {
  bound: { requirements: [] },
  scope: {},
  kind: 'node',
  relation: 'read',
  facts: { nowMs: NOW_MS },
  pageSize: 7,
}

/** The two ways and every change between them: what is few, and what is remembered from one page to the next. */
const WAYS = [
  { name: 'looked up at once', max: 1_000, remembers: () => 'few' as const },
  { name: 'looked up after a short page', max: 1_000, remembers: () => undefined },
  { name: 'that are too many', max: 1, remembers: () => 'few' as const },
  {
    name: 'on pages in turns',
    max: 1_000,
    remembers: (page: number) => (page % 2 === 0 ? ('few' as const) : ('many' as const)),
  },
]

const CASES = STORES.flatMap((store) => ENGINE_KINDS.map((kind) => ({ store, kind, name: `${store.name}, ${kind}` })))

describe.each(CASES)('What a caller may see of a search, over $name', ({ store, kind }) => {
  describe.skipIf(store.missing || isEngineMissing(kind))('', () => {
    const inUse = useDatastore(store)
    const server = useSpicedb(kind)
    let replica: Replica
    let callers = 0
    const db = () => inUse.current().pool('interactive')

    beforeAll(async () => {
      await emptyTables(inUse.current())
      await insertDomains()
      replica = await openReplica({ datastore: inUse.current(), nowMs: NOW_MS, server: server() })
      await replica.change(async ({ tuples }) => {
        for (const object of OBJECTS) {
          const edge = edgeOf(object)
          const place = { domainId: object.domain_id, projectId: object.project_id }
          if (edge !== undefined) await tuples.createStructural(edge, place)
        }
      })
    })
    afterAll(() => replica.stop())

    async function insertDomains(): Promise<void> {
      const at = new Date(NOW_MS)
      for (const id of DOMAINS) {
        await db()
          .insertInto('domains')
          .values({
            id,
            slug: id,
            display_name: 'A Domain',
            mesh_cidr: '100.64.0.0/10',
            endpoint_ttl_seconds: 300,
            trusted_networks: JSON.stringify(['10.0.0.0/8']),
            business_hours: JSON.stringify({
              time_zone: 'Europe/Berlin',
              days: [1, 2, 3, 4, 5],
              from: '08:00',
              to: '18:00',
            }),
            strong_acr: '[]',
            created_at: at,
            updated_at: at,
          })
          .execute()
      }
    }

    /** A caller with these roles, who has never been asked about. */
    async function callerWith(roles: readonly Role[]) {
      const number = String(++callers).padStart(12, '0')
      const [caller, group] = [`user:01900008-0000-7000-8000-${number}`, `group:01900009-0000-7000-8000-${number}`]
      await replica.change(async ({ tuples }) => {
        await tuples.create({ subject: caller, relation: 'member', resource: group }, PLATFORM)
        for (const { isOfGroup, domainId, ...role } of onePerBinding(roles))
          await tuples.create(
            { ...role, subject: isOfGroup ? `${group}#member` : caller },
            { domainId, projectId: null },
          )
      })
      return caller
    }

    const mayBeShown = async (row: SelectedObject, { relation, facts, kind: asked }: Question, subject: string) => {
      const type = shownKind(row, asked)
      if (!replica.authorizer.hasRelation(type, relation)) return false
      const query = { subject, relation, resource: `${type}:${row.id}`, facts, wantPath: false }
      return (await replica.authorizer.check(query)).allowed
    }

    /** One page of the search, with the row filter of the edge. */
    function pageOf(
      question: Question,
      subject: string,
      { position, fewVisible }: { position: PagePosition | undefined; fewVisible: FewVisible },
    ) {
      let next: PagePosition | undefined
      const ctx = {
        caller: { subject },
        facts: question.facts,
        nowMs: question.facts.nowMs,
        pageRange: pageRange(position, question.pageSize),
        page: (items: SelectedObject[], following: PagePosition | undefined) => {
          next = following
          return { items, next_cursor: following === undefined ? null : 'more' }
        },
        async visible(rows: readonly SelectedObject[]) {
          const shown: SelectedObject[] = []
          for (const row of rows) if (await mayBeShown(row, question, subject)) shown.push(row)
          return shown
        },
      } as unknown as RequestContext
      const shown = { positionOf: byKindAndId.positionOf, visible: () => ({}), toAnswer: (row: SelectedObject) => row }
      const read = (among: SelectedObjects['among']) =>
        listPage(ctx, (range) => readSelected(db(), { ...question, among }, range), shown)
      return searchPage(ctx, { sought: { relation: question.relation, kind: question.kind }, fewVisible, read }).then(
        ({ items }) => ({ items, next }),
      )
    }

    async function walked(question: Question, subject: string, { max, remembers }: (typeof WAYS)[number]) {
      const found: string[] = []
      let position: PagePosition | undefined
      for (let page = 0; ; page++) {
        const fewVisible = {
          ...createFewVisible({ ...replica, max }),
          remembered: () => remembers(page),
        }
        const { items, next } = await pageOf(question, subject, { position, fewVisible })
        found.push(...items.map(({ kind: of, id }) => `${of}:${id}`))
        if (next === undefined) return found
        position = next
      }
    }

    it(
      'is the same in both ways, on every page, with every caveat, as checks of all that matches',
      { timeout: 120_000 },
      async () => {
        let shown = 0
        await fc.assert(
          fc.asyncProperty(questions, async ({ world, roles, asked }) => {
            await storeWorld(db(), world)
            const subject = await callerWith([...roles, ALWAYS_HELD])
            for (const question of [ALWAYS_ASKED, ...asked]) {
              const rows = await readSelected(db(), question, pageRange(undefined, 1_000))
              const expected: string[] = []
              for (const row of rows)
                if (await mayBeShown(row, question, subject)) expected.push(`${row.kind}:${row.id}`)
              shown += expected.length > 0 && expected.length < rows.length ? 1 : 0
              for (const way of WAYS) expect(await walked(question, subject, way), way.name).toEqual(expected)
            }
          }),
          { numRuns: kind === 'spicedb' ? 5 : 30, endOnFailure: true },
        )
        expect(shown).toBeGreaterThan(0)
      },
    )
  })
})

function edgeOf({ kind, subkind, id, domain_id, project_id }: WorldObject): Tuple | undefined {
  if (kind === 'domain') return { subject: 'platform:main', relation: 'platform', resource: `domain:${id}` }
  const resource = `${subkind === 'network' || subkind === 'workload' ? subkind : kind}:${id}`
  if (kind !== 'project' && project_id !== null)
    return { subject: `project:${project_id}`, relation: 'project', resource }
  if (domain_id !== null) return { subject: `domain:${domain_id}`, relation: 'domain', resource }
  return undefined
}
