import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_KINDS, isEngineMissing, useSpicedb } from '../support/authz/engines.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { depth } from '../support/run/depth.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const TUPLES = '/v1/authz/relation-tuples'
const ROLES = ['viewer', 'deployer', 'admin'] as const
/** What each role lets its holder do. */
const GRANTS: Readonly<Record<(typeof ROLES)[number], readonly string[]>> = {
  viewer: ['read'],
  deployer: ['read', 'deploy'],
  admin: ['read', 'deploy', 'manage'],
}

/** A binding by the numbers of its subject and role, and whether it is caveated. */
interface Binding {
  readonly who: number
  readonly role: number
  readonly isCaveated: boolean
}

type Step =
  | { readonly do: 'create'; readonly of: Binding }
  | { readonly do: 'delete'; readonly of: Binding }
  | { readonly do: 'patch'; readonly of: Binding; readonly to: Binding }
  | { readonly do: 'bulk'; readonly all: readonly Binding[] }

/** SpiceDB takes a quarter of an hour for the deep runs where the machine has others to serve. */
const DEADLINE_MS = depth({ ci: 60_000, deep: 1_800_000 })

const WHO_MAX = 2
const binding: fc.Arbitrary<Binding> = fc.record({
  who: fc.nat({ max: WHO_MAX }),
  role: fc.nat({ max: ROLES.length - 1 }),
  isCaveated: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), of: binding }),
  fc.record({ do: fc.constant('delete' as const), of: binding }),
  fc.record({ do: fc.constant('patch' as const), of: binding, to: binding }),
  fc.record({ do: fc.constant('bulk' as const), all: fc.array(binding, { minLength: 1, maxLength: 4 }) }),
)

const keyOf = ({ who, role, isCaveated }: Binding): string => `${who} ${role} ${isCaveated}`

/** What a step answers, and the bindings that are live after it. */
function predict(
  live: ReadonlySet<string>,
  each: Step,
): { readonly status: number; readonly live: ReadonlySet<string> } {
  const without = (key: string) => new Set([...live].filter((one) => one !== key))
  switch (each.do) {
    case 'create':
      return live.has(keyOf(each.of))
        ? { status: 409, live }
        : { status: 201, live: new Set([...live, keyOf(each.of)]) }
    case 'delete':
      return live.has(keyOf(each.of)) ? { status: 204, live: without(keyOf(each.of)) } : { status: 404, live }
    case 'patch': {
      const [from, to] = [keyOf(each.of), keyOf(each.to)]
      if (!live.has(from)) return { status: 404, live }
      if (from !== to && live.has(to)) return { status: 409, live }
      return { status: 200, live: new Set([...without(from), to]) }
    }
    default: {
      const keys = each.all.map(keyOf)
      const isNew = new Set(keys).size === keys.length && !keys.some((key) => live.has(key))
      return isNew ? { status: 201, live: new Set([...live, ...keys]) } : { status: 409, live }
    }
  }
}

const PLACES = ENGINE_KINDS.flatMap((engine) => STORES.map((store) => ({ engine, store, name: store.name })))

describe.each(PLACES)('The states of a tuple, with the $engine engine on the $name store', ({ engine, store }) => {
  describe.skipIf(store.missing || isEngineMissing(engine))('served over HTTP', () => {
    const spicedb = useSpicedb(engine)
    let tenancy: Tenancy
    let domainId: string
    let people: readonly string[]
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['authz', 'relationTuples'] }, spicedb())
      domainId = await tenancy.domain()
      people = await Promise.all(Array.from({ length: WHO_MAX + 1 }, () => tenancy.principal(domainId)))
    })
    afterAll(() => tenancy.stop())

    const call = (operation: string, body?: unknown): Promise<Answer> => tenancy.call(tenancy.root, operation, body)

    const bodyOf = (projectId: string, { who, role, isCaveated }: Binding) => ({
      subject: people[who],
      relation: ROLES[role],
      resource: `project:${projectId}`,
      // Nobody of the model has a source address, so that a caveated tuple grants nothing here.
      ...(isCaveated && { caveat_context: { caveat_name: 'from_network', source_ip: null, trusted_networks: null } }),
    })

    /** Runs a step; ids are remembered, those of tuples that are gone too. */
    async function run(projectId: string, each: Step, ids: Map<string, string>): Promise<Answer> {
      const idOf = (of: Binding) => ids.get(keyOf(of)) ?? tenancy.ids.next()
      if (each.do === 'delete') return call(`DELETE ${TUPLES}/${idOf(each.of)}`)
      if (each.do === 'patch') {
        const answer = await call(`PATCH ${TUPLES}/${idOf(each.of)}`, bodyOf(projectId, each.to))
        if (answer.status === 200) ids.set(keyOf(each.to), String(answer.body['id']))
        return answer
      }
      if (each.do === 'create') {
        const answer = await call(`POST ${TUPLES}?project_id=${projectId}`, bodyOf(projectId, each.of))
        if (answer.status === 201) ids.set(keyOf(each.of), String(answer.body['id']))
        return answer
      }
      const tuples = each.all.map((of) => ({ project_id: projectId, ...bodyOf(projectId, of) }))
      const answer = await call(`POST ${TUPLES}/bulk`, { tuples })
      const items = (answer.body['items'] ?? []) as readonly { readonly id?: string }[]
      for (const [index, of] of each.all.entries()) {
        const { id } = items[index] ?? {}
        if (id !== undefined) ids.set(keyOf(of), id)
      }
      return answer
    }

    async function listed(projectId: string): Promise<readonly string[]> {
      const items = (await call(`GET ${TUPLES}?project_id=${projectId}&limit=200`)).body['items']
      return (items as readonly { subject: string; relation: string; caveat_context?: object }[])
        .map(({ subject, relation, caveat_context: caveat }) =>
          keyOf({
            who: people.indexOf(subject),
            role: ROLES.indexOf(relation as (typeof ROLES)[number]),
            isCaveated: caveat !== undefined,
          }),
        )
        .toSorted()
    }

    async function expectGrants(projectId: string, live: ReadonlySet<string>): Promise<void> {
      const resource = `project:${projectId}`
      for (const [who, subject] of people.entries()) {
        const roles = ROLES.filter((_, role) => live.has(keyOf({ who, role, isCaveated: false })))
        for (const relation of ['read', 'deploy', 'manage']) {
          const isHeld = roles.some((role) => GRANTS[role].includes(relation))
          const { body } = await call('POST /v1/authz/check', { subject, relation, resource })
          expect([subject, relation, body['decision']]).toEqual([subject, relation, isHeld ? 'allowed' : 'denied'])
        }
      }
    }

    it('are audited in the chain of their Domain, whoever changes them', async () => {
      const projectId = await tenancy.project(domainId)
      const made = await call(
        `POST ${TUPLES}?project_id=${projectId}`,
        bodyOf(projectId, { who: 0, role: 0, isCaveated: false }),
      )
      const gone = await call(`DELETE ${TUPLES}/${String(made.body['id'])}`)
      const missing = await call(`DELETE ${TUPLES}/${String(made.body['id'])}`)
      expect([made.status, gone.status, missing.status]).toEqual([201, 204, 404])
      expect(await tenancy.audit(made)).toMatchObject({ object: `project:${projectId}`, domainId, outcome: 'granted' })
      expect(await tenancy.audit(gone)).toMatchObject({ domainId, outcome: 'granted' })
      expect(domainId).not.toBe(tenancy.home)
    })

    it(
      'are those of the model, whatever the order of the steps',
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
            const projectId = await tenancy.project(domainId)
            const ids = new Map<string, string>()
            let live: ReadonlySet<string> = new Set()
            for (const each of steps) {
              const expected = predict(live, each)
              const answer = await run(projectId, each, ids)
              expect([each, answer.status]).toEqual([each, expected.status])
              ;({ live } = expected)
            }
            expect(await listed(projectId)).toEqual([...live].toSorted())
            await expectGrants(projectId, live)
          }),
          { numRuns: depth({ ci: 25, deep: 500 }) },
        )
      },
      DEADLINE_MS,
    )
  })
})
