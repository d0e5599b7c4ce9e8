import { z } from 'zod'
import { parseSecretRef } from '../bridges/secret-ref.ts'
import { uuidField } from './fields.ts'
import { defineSurface, open } from './operation.ts'

export const nodeSecrets = defineSurface('node-secrets', 'Secrets for the nodes whose configuration names them', {
  GetNodeSecret: {
    method: 'GET',
    path: '/v1/nodes/{id}/secrets',
    summary: 'Fetch a secret that the configuration of a hosted bridge names',
    description:
      'A nonce of twelve bytes, then the secret and a tag of sixteen, sealed with AES-256-GCM under the node’s secret key. A reference that no configuration of the node names is answered like one that does not exist.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params: z.strictObject({ id: uuidField('invalid_node_id', 'Node') }),
    query: z.strictObject({
      ref: z
        .string()
        .max(256)
        .refine((text) => parseSecretRef(text) !== undefined, {
          error: 'must be secret:<domain>/<project>/<name>, perhaps with :<version>',
        })
        .meta({ problem: 'secret_ref_malformed', description: 'The reference, as the configuration names it' }),
    }),
    gate: {
      ...open('S0 Authentication 4: a node speaks for itself'),
      ownNode: { param: 'id', mismatch: 'node_id_mismatch' },
    },
    audit: { relation: 'secret.fetch', when: 'all', object: 'node:{path.id}' },
    responses: {
      200: { media: 'application/octet-stream', describe: 'The envelope, 28 bytes longer than the secret' },
    },
    sealsToSecret: true,
    headers: {
      'X-Service-PSK-KID': 'Id of the node secret key that it is sealed under',
      'X-Service-Secret-Version': 'Version of the secret; part of what the envelope authenticates',
    },
    noStore: true,
    problems: ['secret_not_found', 'secret_store_unavailable'],
    notProvisioned: 'not_provisioned',
  },
})
