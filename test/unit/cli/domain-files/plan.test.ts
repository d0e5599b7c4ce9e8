import { describe, expect, it } from 'vitest'
import { applyPlan } from '../../../../src/cli/domain-files/apply-plan.ts'
import { canonical } from '../../../../src/cli/domain-files/canonical.ts'
import type { LiveObject } from '../../../../src/cli/domain-files/document.ts'
import type { World } from '../../../../src/cli/domain-files/kind.ts'
import { policy } from '../../../../src/cli/domain-files/kinds/policy.ts'
import { serviceIdentity } from '../../../../src/cli/domain-files/kinds/service-identity.ts'
import { assertHolds } from '../../../../src/cli/domain-files/plan/plan-file.ts'
import { planLines } from '../../../../src/cli/domain-files/plan/plan-lines.ts'
import type { Plan } from '../../../../src/cli/domain-files/plan/plan.ts'
import { liveByKey } from '../../../../src/cli/domain-files/read-domain.ts'
import { styleOf } from '../../../../src/cli/output/style.ts'
import { DOMAIN, file, plan, worldOf, type Answers } from '../../../support/domain-files/planned-world.ts'

const PLAIN = styleOf({ env: {} } as never, { isTty: false } as never, true)

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

describe('A role with another caveat', () => {
  const ON = { on: 'project:web', role: 'viewer' }
  const live = (...roles: readonly object[]): LiveObject => ({
    kind: 'grants',
    name: 'group:ops',
    id: 'group:ops',
    members: { roles },
    row: Object.fromEntries(roles.map((role, at) => [canonical(role), { id: `t${at}`, resource: 'project:p1' }])),
  })
  const HOURS = { ...ON, caveat_context: { caveat_name: 'within_hours' } }
  const STRONG = { ...ON, caveat_context: { caveat_name: 'strong_session' } }

  it('is replaced in one call that ends the old one first, and the plan says so', async () => {
    const calls: Answers['calls'] = []
    const world = worldOf([live(ON)], { calls })
    const made = await plan(world, [file('grants', 'group:ops', { roles: [{ ...HOURS, project: 'web' }] })])
    expect(made.steps).toMatchObject([{ action: 'change', changes: [{ from: ON, to: HOURS }] }])
    expect(planLines(made, PLAIN).join('\n')).toContain('(replaced: the old role ends first)')
    await applyPlan(world, made, () => undefined)
    expect(calls).toEqual([
      {
        operation: 'PatchRelationTuple',
        input: {
          id: 't0',
          body: {
            subject: 'group:g1#member',
            relation: 'viewer',
            resource: 'project:p1',
            caveat_context: { caveat_name: 'within_hours' },
          },
        },
      },
    ])
  })

  it('takes the place of each one that the file does not name, before it begins', async () => {
    const [step] = (await plan(worldOf([live(ON, STRONG)]), [file('grants', 'group:ops', { roles: [HOURS] })])).steps
    expect(step?.changes.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: STRONG, to: undefined },
      { from: ON, to: HOURS },
    ])
  })

  it('stays beside another one where the file names both', async () => {
    const both = [file('grants', 'group:ops', { roles: [HOURS, STRONG] })]
    expect((await plan(worldOf([live(STRONG, HOURS)]), both)).steps).toEqual([])
  })

  it('is no later change to a saved plan that was applied', async () => {
    const documents = [file('grants', 'group:ops', { roles: [HOURS] })]
    const saved = await plan(worldOf([live(ON)]), documents)
    const after = worldOf([live(HOURS)])
    const now = await plan(after, documents)
    expect(() => assertHolds(saved, { plan: now, live: liveByKey(after) })).not.toThrow()
  })
})

describe('Roles whose file is gone', () => {
  const grants = (name: string): LiveObject => {
    const role = { on: 'domain', role: 'viewer' }
    const row = { [canonical(role)]: { id: 't1', resource: `domain:${DOMAIN}` } }
    return { kind: 'grants', name, id: name, members: { roles: [role] }, row }
  }

  it('are listed where their subject is of the set, and revoked with --prune', async () => {
    const calls: Answers['calls'] = []
    const world = worldOf([OPS, grants('group:ops'), grants('user:ann')], { calls })
    const documents = [file('group', 'ops', { display_name: 'Ops' })]
    const unnamed = [{ kind: 'grants', name: 'group:ops' }]
    expect(await plan(world, documents)).toMatchObject({ steps: [], unnamed })
    const pruned = await plan(world, documents, { pruneMax: 10 })
    expect(pruned).toMatchObject({ steps: [{ action: 'remove', ...unnamed[0] }], unnamed: [] })
    await applyPlan(world, pruned, () => undefined)
    expect(calls).toEqual([{ operation: 'DeleteDomainGrant', input: { id: DOMAIN, tuple_id: 't1' } }])
  })
})

describe('A name that nothing has', () => {
  const hosted: LiveObject = { ...BRIDGE, members: { type: 'machine', display_name: 'Edge', hosts: ['web-1'] } }

  it.each([
    ['hosts', hosted, file('resource', 'web/edge', { type: 'machine', display_name: 'Edge', hosts: ['typo'] })],
    [
      'ingress',
      BRIDGE,
      file('resource', 'web/edge', {
        type: 'bridge',
        display_name: 'Edge',
        ingress: [{ slug: 'other', target_node: 'typo' }],
      }),
    ],
  ])('takes nothing away in its place: %s', async (member, live, document) => {
    await expect(plan(worldOf([live]), [document])).rejects.toMatchObject({
      message: 'resource.yaml: there is no node:typo yet, and resource web/edge would lose what it has instead',
      exitCode: 9,
      hints: [expect.stringContaining(`Without it, ${member}`), expect.stringContaining('Correct the name')],
    })
  })

  it('is waited for where nothing is lost', async () => {
    const wanted = { type: 'machine', display_name: 'Edge', hosts: ['web-1', 'later'] }
    const { steps, waits } = await plan(worldOf([hosted]), [file('resource', 'web/edge', wanted)])
    expect([steps, waits]).toMatchObject([[], [{ what: 'there is no node:later yet' }]])
  })
})

describe('An object that has changed since it was read', () => {
  const service: LiveObject = {
    kind: 'service-identity',
    name: 'build',
    id: 's1',
    members: { display_name: 'Build', disabled: false },
    row: { display_name: 'Build', disabled: false },
  }
  const group: LiveObject = { ...OPS, row: { display_name: 'Ops', members: ['user:u1'] } }
  const bridgeRow = { kind: 'bridge', id: 'r1', project_id: 'p1', updated_at: '2026-01-01T00:00:00Z' }
  const bridge: LiveObject = {
    ...BRIDGE,
    members: { type: 'bridge', display_name: 'Edge' },
    row: { ...bridgeRow, parts: { relay: { enabled: true, listen_port: 51_821 } } },
  }

  it.each([
    ['service-identity', 'build', service, { GetIdentity: { display_name: 'Build', disabled: true } }],
    ['group', 'ops', group, { GetGroup: { display_name: 'Ops', members: ['user:u1', 'user:u2'] } }],
    ['group', 'ops', group, { GetGroup: { display_name: 'Operators', members: ['user:u1'] } }],
    [
      'resource',
      'web/edge',
      bridge,
      { GetResource: bridgeRow, GetBridgeRelay: { enabled: false, listen_port: 51_821 } },
    ],
  ])('is not written: %s %s', async (kind, name, live, answers) => {
    const calls: Answers['calls'] = []
    const world = worldOf([live], { calls, answers })
    const made = await plan(world, [file(kind, name, { display_name: 'Other' })])
    const { failure } = await applyPlan(world, made, () => undefined)
    expect(failure?.error).toMatchObject({ exitCode: 6, code: 'plan_stale' })
    expect(calls.map(({ operation }) => operation)).toEqual(Object.keys(answers))
  })

  it('is removed where it has only lost members, as removals before it do', async () => {
    const calls: Answers['calls'] = []
    const world = worldOf([group], { calls, answers: { GetGroup: { display_name: 'Ops', members: [] } } })
    await applyPlan(world, await plan(world, [], { pruneMax: 10 }), () => undefined)
    expect(calls.map(({ operation }) => operation)).toEqual(['GetGroup', 'DeleteGroup'])
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

  it.each(['service-identity', 'user'])(
    'are refused to those who may not read their names, since ids would take their place: %s',
    async (kind) => {
      const rows = [{ kind, display_name: 'Build', id: 's1' }]
      await expect(serviceIdentity.read(worldOf([], { calls: [], rows }))).rejects.toMatchObject({
        exitCode: 5,
        code: 'names_hidden',
      })
    },
  )

  it('keep their ids where an auditor reads people whose identity provider names none', async () => {
    const answers = { GetIdentity: { external_subject: '00u1' } }
    const world = worldOf([], { calls: [], rows: [{ ...user, id: 'u1' }], answers })
    await serviceIdentity.read(world)
    expect(world.names.shownReference('user:u1')).toBe('user:u1')
  })
})
