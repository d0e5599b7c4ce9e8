import type { secrets } from '../../../src/shared/contract/secrets.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the secrets of Projects. */
export const secretScenarios: Scenarios<World, typeof secrets> = {
  PutSecret: ({ projectId, name, root, nobody }) => ({
    input: { id: projectId, name: name(), body: { value: 'of a scenario' } },
    as: root,
    lesser: nobody,
  }),
  async ListSecrets(world) {
    for (const _ of ['one', 'two']) await makeSecret(world)
    return { input: { id: world.projectId }, as: world.root, lesser: world.nobody }
  },
  async GetSecret(world) {
    return { input: await makeSecret(world), as: world.root, lesser: world.nobody }
  },
  async DeleteSecret(world) {
    return { input: await makeSecret(world), as: world.root, lesser: world.nobody }
  },
}

/** A new secret, as paths name it. */
async function makeSecret(world: World): Promise<{ id: string; name: string }> {
  const place = { id: world.projectId, name: world.name() }
  await world.make('PutSecret', { ...place, body: { value: 'of a scenario' } })
  return place
}
