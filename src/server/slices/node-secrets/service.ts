import { parseSecretRef } from '../../../shared/bridges/secret-ref.ts'
import type { nodeSecrets } from '../../../shared/contract/node-secrets.ts'
import { secretAad } from '../../../shared/mesh/secret-envelope.ts'
import { problem } from '../../../shared/problems.ts'
import { presentedNsk, sealUnderPresented } from '../../http/nsk-envelope.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { ProjectSecrets, SecretValue } from '../../ports/project-secrets.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import { findNamedSecret } from './store.ts'

export interface NodeSecretsDeps {
  readonly datastore: Datastore
  readonly projectSecrets: ProjectSecrets
  readonly usage: UsageMeter
}

/** Serves secrets to the nodes that host a bridge whose configuration names them. Nothing is cached between two calls. */
export function createNodeSecrets({ datastore, projectSecrets, usage }: NodeSecretsDeps): Handlers<typeof nodeSecrets> {
  /** Undefined where no configuration of the node names it, and where it does not exist: the node must not learn which. */
  async function read(nodeId: string, ref: string): Promise<SecretValue | undefined> {
    const named = parseSecretRef(ref)
    if (named === undefined) return undefined
    const secret = await findNamedSecret(datastore.pool('interactive'), { nodeId, ref, named })
    return secret && projectSecrets.read(secret)
  }

  return {
    async GetNodeSecret(ctx, { id: nodeId, ref }) {
      const found = await read(nodeId, ref)
      if (found === undefined) throw problem('secret_not_found')
      const { version, value } = found
      const { kid, key } = presentedNsk(ctx)
      const envelope = sealUnderPresented(value, key, secretAad({ nodeId, ref, version }))
      value.fill(0)
      ctx.note({ version })
      ctx.header('X-Service-PSK-KID', kid)
      ctx.header('X-Service-Secret-Version', String(version))
      usage.count('secret_reads', ctx.caller.domainId, 1)
      return envelope
    },
  }
}
