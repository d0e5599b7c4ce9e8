import type { artifacts } from '../../../src/shared/contract/artifacts.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the releases of the node agent. */
export const artifactScenarios: Scenarios<World, typeof artifacts> = {
  async ListPlexdArtifacts(world) {
    for (const _ of ['one', 'two']) await world.release()
    return { input: {}, as: world.root, lesser: world.nobody }
  },
  async GetPlexdArtifact(world) {
    return readBy(world)
  },
  async GetPlexdArtifactSignature(world) {
    return readBy(world)
  },
}

/** A node reads a release without a check. */
async function readBy(world: World) {
  const { nsk } = await world.node()
  return { input: { version: await world.release() }, as: world.root, lesser: world.nobody, also: [{ as: nsk }] }
}
