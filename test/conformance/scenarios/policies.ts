import type { policies } from '../../../src/shared/contract/policies.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import type { World } from '../world.ts'

const RULE = {
  direction: 'ingress' as const,
  peers: '*',
  cidrs: ['10.0.0.0/8'],
  protocol: 'tcp' as const,
  ports: ['22'],
}
const TEST = { from: '*', to: '*', protocol: 'tcp', port: 22, expect: 'allowed' } as const
const DOCUMENT = { selector: '*', isolates: ['ingress' as const], rules: [RULE], tests: [TEST] }

/** Scenarios of policies. */
export const policyScenarios: Scenarios<World, typeof policies> = {
  CreatePolicy: ({ domainId: id, name, root, nobody }) => ({
    input: { id, body: { slug: name(), display_name: 'Nodes reach each other', ...DOCUMENT } },
    as: root,
    lesser: nobody,
  }),
  async ListPolicies(world) {
    for (const _ of ['one', 'two']) await makePolicy(world)
    return { input: { id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetPolicy(world) {
    return { input: { id: await makePolicy(world) }, as: world.root, lesser: world.nobody }
  },
  async PatchPolicy(world) {
    const body = { display_name: 'Renamed', rules: [{ ...RULE, ports: ['22', '8000-8100'] }] }
    return { input: { id: await makePolicy(world), body }, ...(await callers(world)) }
  },
  async DeletePolicy(world) {
    return { input: { id: await makePolicy(world) }, ...(await callers(world)) }
  },
  async ListPolicyRevisions(world) {
    const id = await makePolicy(world)
    for (const display_name of ['Two', 'Three']) await world.make('PatchPolicy', { id, body: { display_name } })
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async RollbackPolicy(world) {
    const id = await makePolicy(world)
    const { revision_id } = await world.make('GetPolicy', { id })
    await world.make('PatchPolicy', { id, body: { display_name: 'Two' } })
    return { input: { id, body: { revision_id } }, ...(await callers(world)) }
  },
  PreviewPolicies: ({ domainId: id, name, root, nobody }) => ({
    input: { id, body: { policies: [{ slug: name(), ...DOCUMENT }] } },
    as: root,
    lesser: nobody,
  }),
  GetPolicyGraph: ({ domainId: id, root, nobody }) => ({ input: { id, selector: '*' }, as: root, lesser: nobody }),
  async CheckReachability({ domainId: id, node, root, nobody }) {
    const [from, to] = [(await node()).id, (await node()).id]
    return { input: { id, from, to, protocol: 'tcp', port: '22' }, as: root, lesser: nobody }
  },
}

async function makePolicy({ domainId: id, make, name }: World): Promise<string> {
  const policy = await make('CreatePolicy', { id, body: { slug: name(), ...DOCUMENT } })
  return policy.id
}

/** Who may read a policy and change none is a viewer of its Domain. */
async function callers(world: World): Promise<Pick<ValidCall, 'as' | 'lesser' | 'onlooker'>> {
  const onlooker = await world.signedIn()
  const { subject } = await world.makeAs(onlooker, 'GetAuthWhoami', {})
  await world.make('CreateDomainGrant', { id: world.domainId, body: { subject, relation: 'viewer' } })
  return { as: world.root, lesser: world.nobody, onlooker }
}
