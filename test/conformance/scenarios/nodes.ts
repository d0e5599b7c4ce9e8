import type { joinTokens } from '../../../src/shared/contract/join-tokens.ts'
import type { nodes } from '../../../src/shared/contract/nodes.ts'
import type { Scenarios } from '../scenario.ts'
import { freshPublicKey, type World } from '../world.ts'

export const joinTokenScenarios: Scenarios<World, typeof joinTokens> = {
  async CreateJoinToken({ root, nobody, domainId: id, projectId: project_id, node }) {
    return {
      input: { id, body: { ttl_seconds: 600, max_uses: 3, labels: { site: 'here' } } },
      variants: [
        { id, body: { project_id } },
        { id, body: { node_id: (await node()).id } },
      ],
      as: root,
      lesser: nobody,
    }
  },
  async ListJoinTokens({ root, nobody, domainId, joinToken }) {
    for (const _ of ['one', 'two']) await joinToken()
    return { input: { id: domainId }, as: root, lesser: nobody }
  },
  async DeleteJoinToken({ make, root, nobody, domainId: id }) {
    const { id: join_token_id } = await make('CreateJoinToken', { id, body: {} })
    return { input: { id, join_token_id }, as: root, lesser: nobody }
  },
}

const heartbeat = () => ({
  client_now: new Date().toISOString(),
  binary_version: '1.2.3',
  binary_checksum: 'a'.repeat(64),
})

export const nodeScenarios: Scenarios<World, typeof nodes> = {
  async RegisterNode({ joinToken, name }) {
    return { input: { body: { name: name(), kind: 'vm', public_key: freshPublicKey() } }, as: await joinToken() }
  },
  async ListNodes({ root, domainId, node }) {
    for (const _ of ['one', 'two']) await node()
    return { input: { domain_id: domainId, reachability: 'never_reported' }, as: root }
  },
  async GetNode({ node, root, nobody }) {
    return { input: { id: (await node()).id }, as: root, lesser: nobody }
  },
  async PatchNode({ node, root, nobody, name }) {
    return { input: { id: (await node()).id, body: { name: name() } }, as: root, lesser: nobody }
  },
  async DeleteNode({ node, root, nobody }) {
    return { input: { id: (await node()).id }, as: root, lesser: nobody }
  },
  async PostNodeSecretKeyRotate({ node, root, nobody }) {
    const { id, nsk } = await node()
    return { input: { id }, as: root, lesser: nobody, also: [{ as: nsk, lesser: (await node()).nsk }] }
  },
  async PostNodeSecretKeyRevoke({ node, root, nobody }) {
    return { input: { id: (await node()).id }, as: root, lesser: nobody }
  },
  async PostNodeHeartbeat({ node }) {
    const { id, nsk } = await node()
    return { input: { id, body: heartbeat() }, as: nsk, lesser: (await node()).nsk }
  },
  async GetDomainReachabilityHistory({ node, keeper, nobody, domainId: id }) {
    await node()
    return { input: { id, since: new Date(Date.now() - 3_600_000).toISOString() }, as: keeper, lesser: nobody }
  },
  async GetNodeReachability({ node, root, nobody }) {
    const { id, nsk } = await node()
    return { input: { id }, as: root, lesser: nobody, also: [{ as: nsk, lesser: (await node()).nsk }] }
  },
}
