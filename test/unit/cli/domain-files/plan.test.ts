import { describe, expect, it } from 'vitest'
import type { FileDocument, LiveObject } from '../../../../src/cli/domain-files/document.ts'
import type { Gateway } from '../../../../src/cli/domain-files/gateway.ts'
import type { World } from '../../../../src/cli/domain-files/kind.ts'
import { policy } from '../../../../src/cli/domain-files/kinds/policy.ts'
import { serviceIdentity } from '../../../../src/cli/domain-files/kinds/service-identity.ts'
import { createNames } from '../../../../src/cli/domain-files/names.ts'
import { makePlan, type Planning } from '../../../../src/cli/domain-files/plan/make-plan.ts'
import { assertHolds } from '../../../../src/cli/domain-files/plan/plan-file.ts'
import type { Plan } from '../../../../src/cli/domain-files/plan/plan.ts'
import { liveByKey } from '../../../../src/cli/domain-files/read-domain.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

const DOMAIN = '019c1a10-0000-7000-8000-000000000001'

/** What the API was called with, and what its lists have. */
interface Answers {
  readonly calls: { readonly operation: string; readonly input: Readonly<Record<string, unknown>> }[]
  readonly rows?: readonly Readonly<Record<string, unknown>>[]
}

function worldOf(objects: readonly LiveObject[] = [], { calls, rows = [] }: Answers = { calls: [] }): World {
  const api: Gateway = {
    async call(operation, input) {
      calls.push({ operation, input })
      return {}
    },
    all: async () => rows,
    each: (items, task) => Promise.all(items.map(task)),
  }
  const names = createNames(DOMAIN, 'acme')
  names.add('group', 'ops', 'g1')
  names.add('project', 'web', 'p1')
  names.add('node', 'web-1', 'n1')
  const live = new Map(objects.map(({ kind }) => [kind, objects.filter((one) => one.kind === kind)]))
  return { api, names, domain: {}, live, isKnown: (reference) => names.reference(reference) !== undefined }
}

function file(kind: string, name: string, members: FileDocument['members']): FileDocument {
  return { kind, name, members, file: `${kind}.yaml` }
}

function plan(world: World, documents: readonly FileDocument[], options: Partial<Planning> = {}): Promise<Plan> {
  return makePlan({ manifest, world, set: 'acme', documents, ...options })
}

const OPS: LiveObject = {
  kind: 'group',
  name: 'ops',
  id: 'g1',
  members: { display_name: 'Ops' },
  managedBy: 'acme',
  row: {},
}
const BRIDGE = {
  kind: 'resource',
  name: 'web/edge',
  id: 'r1',
  row: {},
  members: { type: 'bridge', display_name: 'Edge', ingress: [{ slug: 'shop', target_node: 'web-1' }] },
} satisfies LiveObject

describe('A plan', () => {
  it('has no step for grants without roles, which are no object of the server', async () => {
    const { steps } = await plan(worldOf(), [file('grants', 'group:ops', { roles: [] })])
    expect(steps).toEqual([])
  })

  it.each([
    ['resource', 'shop/edge', { type: 'machine', display_name: 'Edge' }],
    ['label-definition', 'project:shop/tier', { value_schema: { type: 'string' } }],
  ])('waits for the Project of a %s instead of creating it', async (kind, name, members) => {
    const { steps, waits } = await plan(worldOf(), [file(kind, name, members)])
    expect([steps, waits]).toEqual([[], [{ kind, name, what: 'there is no project:shop yet' }]])
  })

  it('leaves a role out until the Project of its object is there', async () => {
    const roles = [{ on: 'node:web-1', role: 'operator', project: 'shop' }]
    const { steps, waits } = await plan(worldOf(), [file('grants', 'group:ops', { roles })])
    expect([steps, waits]).toMatchObject([[], [{ what: 'there is no project:shop yet' }]])
  })

  it.each([
    [
      'on an object whose Project nothing names',
      { on: 'node:web-1', role: 'operator' },
      'on node:web-1 needs the Project',
    ],
    [
      'on the Domain with a caveat, which it would be given without',
      { on: 'domain', role: 'viewer', caveat_context: { caveat_name: 'within_hours' } },
      'on the Domain has no caveat',
    ],
  ])('is refused for a role %s', async (_what, role, said) => {
    await expect(plan(worldOf(), [file('grants', 'group:ops', { roles: [role] })])).rejects.toMatchObject({
      message: `grants group:ops: a role ${said}`,
      exitCode: 9,
    })
  })

  it('has no step for values of a caveat, of which the server stores the names', async () => {
    const role = { on: 'project:web', role: 'viewer', caveat_context: { caveat_name: 'within_hours', zone: null } }
    const live: LiveObject = { kind: 'grants', name: 'group:ops', id: 'group:ops', members: { roles: [role] }, row: {} }
    const typed = { ...role, caveat_context: { caveat_name: 'within_hours', zone: 'UTC' } }
    const { steps } = await plan(worldOf([live]), [file('grants', 'group:ops', { roles: [typed] })])
    expect(steps).toEqual([])
  })

  it('leaves a rule of a bridge as it is while the node that it is to lead to has not joined', async () => {
    const members = { ...BRIDGE.members, ingress: [{ slug: 'shop', target_node: 'web-9' }] }
    const { steps, waits } = await plan(worldOf([BRIDGE]), [file('resource', 'web/edge', members)])
    expect([steps, waits]).toMatchObject([[], [{ what: 'there is no node:web-9 yet' }]])
  })
})

describe('A saved plan', () => {
  it('has whether it removes and adopts, and its bound', async () => {
    expect(await plan(worldOf([OPS]), [], { pruneMax: 3, isAdopting: true })).toMatchObject({ prune: 3, adopt: true })
  })

  it('does not hold where its removal is no longer planned', async () => {
    const world = worldOf([OPS])
    const saved = await plan(world, [], { pruneMax: 10 })
    const without = await plan(world, [])
    const check = (now: Plan, of: World) => () => assertHolds(saved, { plan: now, live: liveByKey(of) })
    expect(check(without, world)).toThrow('an object has changed since the plan was made')
    expect(check(saved, world)).not.toThrow()
    // An earlier run of the plan has removed it.
    expect(check(await plan(worldOf(), []), worldOf())).not.toThrow()
  })
})

describe('A policy without rules', () => {
  it('is created with the empty list, which the API wants', async () => {
    const calls: Answers['calls'] = []
    const document = file('policy', 'closed', { selector: '*', rules: [] })
    const world = worldOf([], { calls })
    const [step] = (await plan(world, [document])).steps
    const members = Object.fromEntries((step?.changes ?? []).map(({ member, to }) => [member, to]))
    await policy.create?.(world, { document: { ...document, members }, live: undefined, changes: [] })
    expect(calls).toEqual([
      { operation: 'CreatePolicy', input: { id: DOMAIN, body: { slug: 'closed', selector: '*', rules: [] } } },
    ])
  })
})

describe('People and service identities', () => {
  const user = { kind: 'user', display_name: 'Ann' }

  it('keep their ids where several people have the same handle', async () => {
    const rows = [
      { ...user, id: 'u1', handle: 'ann@example.org' },
      { ...user, id: 'u2', handle: 'ann@example.org' },
      { ...user, id: 'u3', handle: 'ben' },
    ]
    const world = worldOf([], { calls: [], rows })
    await serviceIdentity.read(world)
    const { names } = world
    expect(names.reference('user:ann@example.org')).toBeUndefined()
    expect(['user:u1', 'user:u2', 'user:u3'].map((one) => names.shownReference(one))).toEqual([
      'user:u1',
      'user:u2',
      'user:ben',
    ])
  })

  it('are refused to those who may not read their names, since ids would take their place', async () => {
    const rows = [{ kind: 'service-identity', display_name: 'Build', id: 's1' }]
    await expect(serviceIdentity.read(worldOf([], { calls: [], rows }))).rejects.toMatchObject({
      exitCode: 5,
      code: 'names_hidden',
    })
  })
})
