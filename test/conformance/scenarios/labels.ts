import type { labels } from '../../../src/shared/contract/labels.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import type { World } from '../world.ts'

const TEXT = { type: 'string' as const }

/** Scenarios of label Definitions, and of the labels of objects. */
export const labelScenarios: Scenarios<World, typeof labels> = {
  async ListLabelDefinitions(world) {
    for (const _ of ['one', 'two', 'three']) await makeDefinition(world)
    return { input: { scope: scopeOf(world) }, as: world.root, lesser: world.nobody }
  },
  async CreateLabelDefinition(world) {
    const body = { local_key: world.name(), value_schema: { ...TEXT, enum: ['prod', 'dev'] } }
    const scopes = [`project:${world.projectId}`, 'platform']
    return {
      input: { body: { ...body, scope: scopeOf(world), kinds: ['node' as const], inherit: true } },
      variants: scopes.map((scope) => ({ body: { ...body, scope } })),
      as: world.root,
      lesser: world.nobody,
    }
  },
  async GetLabelDefinition(world) {
    return { input: { id: (await makeDefinition(world)).id }, as: world.root, lesser: world.nobody }
  },
  async UpdateLabelDefinition(world) {
    const { id } = await makeDefinition(world)
    const body = { description: 'Of a scenario', on_delete: 'orphan' as const, immutable: true }
    return { input: { id, body }, ...(await callers(world)) }
  },
  async DeleteLabelDefinition(world) {
    return { input: { id: (await makeDefinition(world)).id }, ...(await callers(world)) }
  },
  async ListObjectLabels(world) {
    const { id } = await world.node()
    await world.make('PutObjectLabel', { kind: 'node', id, body: { qualified_key: 'platform/env', value: 'prod' } })
    return { input: { kind: 'node', id, view: 'effective' }, as: world.root, lesser: world.nobody }
  },
  async ListDomainLabels(world) {
    for (const value of ['prod', 'dev', 'test']) {
      const { id } = await world.node()
      await world.make('PutObjectLabel', { kind: 'node', id, body: { qualified_key: 'platform/env', value } })
    }
    return { input: { id: world.domainId, kind: 'node' }, as: world.root, lesser: world.nobody }
  },
  async PutObjectLabel(world) {
    const { id } = await world.node()
    const { key } = await makeDefinition(world)
    return {
      input: { kind: 'node', id, body: { qualified_key: key, value: 'prod' } },
      as: world.root,
      lesser: await operatorOf(world, id),
      onlooker: await operatorOf(world, id, 'viewer'),
    }
  },
  async DeleteObjectLabel(world) {
    const { id } = await world.node()
    const { key } = await makeDefinition(world)
    await world.make('PutObjectLabel', { kind: 'node', id, body: { qualified_key: key, value: 'prod' } })
    return { input: { kind: 'node', id, qualified_key: key }, as: world.root, lesser: world.nobody }
  },
}

const scopeOf = ({ domainId }: World): string => `domain:${domainId}`

/** A new Definition of the Domain. */
async function makeDefinition(world: World): Promise<{ readonly id: string; readonly key: string }> {
  const [scope, localKey] = [scopeOf(world), world.name()]
  const body = { scope, local_key: localKey, value_schema: TEXT }
  const { id } = await world.make('CreateLabelDefinition', { body })
  return { id, key: `${scope}/${localKey}` }
}

/** Who may see the Definitions of the Domain and change none is a viewer of it. */
async function callers(world: World): Promise<Pick<ValidCall, 'as' | 'lesser' | 'onlooker'>> {
  const onlooker = await world.signedIn()
  await grant(world, onlooker, { relation: 'viewer' })
  return { as: world.root, lesser: world.nobody, onlooker }
}

/** A new user who maintains the node, and perhaps has a role on the Domain. */
async function operatorOf(world: World, nodeId: string, onDomain?: 'viewer'): Promise<string> {
  const credential = await world.signedIn()
  await grant(world, credential, { relation: 'operator', resource: `node:${nodeId}` })
  if (onDomain !== undefined) await grant(world, credential, { relation: onDomain })
  return credential
}

async function grant(world: World, credential: string, role: object): Promise<void> {
  const { subject } = await world.makeAs(credential, 'GetAuthWhoami', {})
  await world.make('CreateDomainGrant', { id: world.domainId, body: { subject, ...role } })
}
