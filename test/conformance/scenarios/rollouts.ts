import type { rollouts } from '../../../src/shared/contract/rollouts.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import type { World } from '../world.ts'

const WINDOW = { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '16:00' }
const WAVES = [{ update_group: 'early' }, { percent: 50 }, { percent: 100 }]

/** Scenarios of rollouts. */
export const rolloutScenarios: Scenarios<World, typeof rollouts> = {
  async CreateRollout(world) {
    const { domainId: id, name, root, nobody } = world
    const version = await world.release()
    const body = { slug: name(), version, selector: '*', waves: WAVES, canaries: 1, window: WINDOW }
    return { input: { id, body }, as: root, lesser: nobody }
  },
  async ListRollouts(world) {
    for (const _ of ['one', 'two']) await plan(world)
    return { input: { id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetRollout(world) {
    return { input: { id: await plan(world) }, as: world.root, lesser: world.nobody }
  },
  async ListRolloutNodes(world) {
    const id = await running(world, 3)
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async StartRollout(world) {
    return { input: { id: await plan(world, await labelledNodes(world, 1)) }, ...(await callers(world)) }
  },
  async PauseRollout(world) {
    return { input: { id: await running(world) }, ...(await callers(world)) }
  },
  async ResumeRollout(world) {
    const id = await running(world)
    await world.make('PauseRollout', { id })
    return { input: { id }, ...(await callers(world)) }
  },
  async CancelRollout(world) {
    return { input: { id: await running(world) }, ...(await callers(world)) }
  },
  async DeleteRollout(world) {
    const id = await plan(world)
    await world.make('CancelRollout', { id })
    return { input: { id }, ...(await callers(world)) }
  },
}

/** The selector of so many nodes, which no other rollout has. */
async function labelledNodes({ node, make, name }: World, count: number): Promise<string> {
  const value = name()
  for (let made = 0; made < count; made += 1) {
    const { id } = await node()
    await make('PutObjectLabel', { kind: 'node', id, body: { qualified_key: 'platform/update-group', value } })
  }
  return `update-group=${value}`
}

/** Plans a rollout whose nodes wait for another weekday: the leader does not take it further once it is started. */
async function plan({ domainId: id, make, name, release }: World, selector = '*'): Promise<string> {
  const today = new Date().getUTCDay()
  const window = { time_zone: 'UTC', days: [((today + 2) % 7) + 1], from: '12:00', to: '12:01' }
  const body = { slug: name(), version: await release(), selector, window }
  return (await make('CreateRollout', { id, body })).id
}

async function running(world: World, nodes = 1): Promise<string> {
  const id = await plan(world, await labelledNodes(world, nodes))
  await world.make('StartRollout', { id })
  return id
}

/** Who may read a rollout and operate none is a viewer of its Domain. */
async function callers(world: World): Promise<Pick<ValidCall, 'as' | 'lesser' | 'onlooker'>> {
  const onlooker = await world.signedIn()
  const { subject } = await world.makeAs(onlooker, 'GetAuthWhoami', {})
  await world.make('CreateDomainGrant', { id: world.domainId, body: { subject, relation: 'viewer' } })
  return { as: world.root, lesser: world.nobody, onlooker }
}
