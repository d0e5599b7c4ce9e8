import type { integrity } from '../../../src/shared/contract/integrity.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the triage of integrity violations. */
export const integrityScenarios: Scenarios<World, typeof integrity> = {
  async ListIntegrityViolations(world) {
    for (const _ of ['one', 'two']) await reported(world)
    return { input: { domain_id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetIntegrityViolation(world) {
    return { input: { id: await reported(world) }, as: world.root, lesser: world.nobody }
  },
  async AcknowledgeIntegrityViolation(world) {
    return { input: { id: await reported(world), body: DECISION }, as: world.root, lesser: world.nobody }
  },
  async ListDomainIntegrityViolations(world) {
    for (const _ of ['one', 'two']) await reported(world)
    return { input: { domain_id: world.domainId }, as: world.root, lesser: world.nobody }
  },
  async GetDomainIntegrityViolation(world) {
    const input = { domain_id: world.domainId, id: await reported(world) }
    return { input, as: world.keeper, lesser: world.nobody }
  },
  async AcknowledgeDomainIntegrityViolation(world) {
    const input = { domain_id: world.domainId, id: await reported(world), body: DECISION }
    return { input, as: world.keeper, lesser: world.nobody }
  },
}

const DECISION = { reason: 'The package was upgraded by hand.' }

/** A violation of a new node, by id. */
async function reported(world: World): Promise<string> {
  const { id: node_id, nsk } = await world.node()
  const violation = { kind: 'hook', artifact: 'backup', detected_at: '2026-03-01T07:00:00Z' }
  await world.makeAs(nsk, 'PostNodeIntegrityViolations', { id: node_id, body: { violations: [violation] } })
  const { items } = await world.make('ListIntegrityViolations', { node_id })
  const [row] = items as readonly { readonly id?: unknown }[]
  if (typeof row?.id !== 'string') throw new Error('the violation is not listed')
  return row.id
}
