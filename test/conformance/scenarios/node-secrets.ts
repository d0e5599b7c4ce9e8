import type { nodeSecrets } from '../../../src/shared/contract/node-secrets.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the secrets of nodes. */
export const nodeSecretScenarios: Scenarios<World, typeof nodeSecrets> = {
  async GetNodeSecret({ node, make, name, domainId, projectId }) {
    const [host, other, secret, slug] = [await node(), await node(), name(), name()]
    await make('PutSecret', { id: projectId, name: secret, body: { value: 'of a scenario' } })
    const bridge = await make('CreateResource', {
      id: projectId,
      body: { kind: 'bridge', slug, display_name: 'B', host_node_ids: [host.id] },
    })
    const [domain, project] = [await make('GetDomain', { id: domainId }), await make('GetProject', { id: projectId })]
    const ref = `secret:${domain.slug}/${project.slug}/${secret}`
    await make('CreateBridgeSiteToSiteTunnel', {
      project_id: projectId,
      resource_id: bridge.id,
      body: {
        slug,
        kind: 'wireguard',
        remote_host: 'vpn.example.org',
        remote_port: 51_820,
        auth_secret_ref: ref,
        allowed_subnets: ['10.20.0.0/16'],
        routing_policy: 'bidirectional',
      },
    })
    return { input: { id: host.id, ref }, as: host.nsk, lesser: other.nsk }
  },
}
