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
    return { input: { id: await plan(world, NO_NODE) }, ...(await callers(world)) }
  },
  async PauseRollout(world) {
    return { input: { id: await started(world, NO_NODE) }, ...(await callers(world)) }
  },
  async ResumeRollout(world) {
    const id = await started(world, NO_NODE)
    await world.make('PauseRollout', { id })
    return { input: { id }, ...(await callers(world)) }
  },
  async CancelRollout(world) {
    return { input: { id: await started(world, NO_NODE) }, ...(await callers(world)) }
  },
  async DeleteRollout(world) {
    const id = await plan(world)
    await world.make('CancelRollout', { id })
    return { input: { id }, ...(await callers(world)) }
  },
}

/** The nodes of the world have no labels: rollouts beside each other need not differ in theirs. */
const NO_NODE = 'platform/update-group=none'

async function plan({ domainId: id, make, name, release }: World, selector = '*'): Promise<string> {
  const rollout = await make('CreateRollout', { id, body: { slug: name(), version: await release(), selector } })
  return rollout.id
}

async function started(world: World, selector = '*'): Promise<string> {
  const id = await plan(world, selector)
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
