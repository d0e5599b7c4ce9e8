import type { mesh } from '../../../src/shared/contract/mesh.ts'
import type { meshKeys } from '../../../src/shared/contract/mesh-keys.ts'
import type { Scenarios } from '../scenario.ts'
import { freshPublicKey, type World } from '../world.ts'

export const meshKeyScenarios: Scenarios<World, typeof meshKeys> = {
  async GetNodePeerPSK({ node }) {
    const [own, peer] = [await node(), await node()]
    return { input: { id: own.id, peer_node_id: peer.id }, as: own.nsk, lesser: peer.nsk }
  },
  async PostNodePeerPSKs({ node }) {
    const [own, peer] = [await node(), await node()]
    return { input: { id: own.id, body: { peer_node_ids: [peer.id] } }, as: own.nsk, lesser: peer.nsk }
  },
  async PostNodeKeysRotate({ node, root, nobody }) {
    return { input: { id: (await node()).id }, as: root, lesser: nobody }
  },
  async GetNodeKeysRotation({ node, make, root, nobody }) {
    const { id } = await node()
    await make('PostNodeKeysRotate', { id })
    return { input: { id }, as: root, lesser: nobody }
  },
  async GetNodeKeysRotatePreview({ node, root, nobody }) {
    return { input: { id: (await node()).id }, as: root, lesser: nobody }
  },
  async PostKeysRotate({ node, make }) {
    const { id, nsk } = await node()
    await make('PostNodeKeysRotate', { id })
    return { input: { body: { public_key: freshPublicKey() } }, as: nsk }
  },
}

export const meshScenarios: Scenarios<World, typeof mesh> = {
  async GetDomainMeshTopology({ node, domainId, root, nobody }) {
    return { input: { domain_id: domainId, node_id: (await node()).id }, as: root, lesser: nobody }
  },
  async VerifyDomainEdgeEpochs({ node, domainId, root, nobody }) {
    return { input: { domain_id: domainId, body: { node_ids: [(await node()).id] } }, as: root, lesser: nobody }
  },
}
