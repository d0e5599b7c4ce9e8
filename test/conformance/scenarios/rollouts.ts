import type { Sending } from '../../../src/shared/contract/operation-types.ts'
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
    for (const _ of ['one', 'two', 'three']) await world.node()
    const id = await started(world)
    // It keeps its nodes, and leaves them to the next one.
    await world.make('CancelRollout', { id })
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async StartRollout(world) {
    const { selector } = await labelledNode(world)
    return { input: { id: await plan(world, { selector }) }, ...(await callers(world)) }
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

/** A node that no other rollout has, and the selector of it alone. */
async function labelledNode({ node, make, name }: World): Promise<{ readonly selector: string }> {
  const { id } = await node()
  const value = name()
  await make('PutObjectLabel', { kind: 'node', id, body: { qualified_key: 'platform/update-group', value } })
  return { selector: `update-group=${value}` }
}

/** A rollout whose node waits for another weekday: the leader does not complete it. */
async function running(world: World): Promise<string> {
  const today = new Date().getUTCDay()
  const window = { time_zone: 'UTC', days: [((today + 2) % 7) + 1], from: '12:00', to: '12:01' }
  return started(world, { ...(await labelledNode(world)), window })
}

type Members = Partial<Pick<RolloutCreation, 'selector' | 'window'>>
type RolloutCreation = Sending<(typeof rollouts)['operations']['CreateRollout']>['body']

async function plan({ domainId: id, make, name, release }: World, members: Members = {}): Promise<string> {
  const body = { slug: name(), version: await release(), selector: '*', ...members }
  return (await make('CreateRollout', { id, body })).id
}

async function started(world: World, members?: Members): Promise<string> {
  const id = await plan(world, members)
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
