import type { Slice } from '../../http/slice.ts'
import { createNodeSecrets, type NodeSecretsDeps } from './service.ts'

/** Secrets for the nodes whose configuration names them. */
export function createSlice(ports: NodeSecretsDeps): Slice<'nodeSecrets'> {
  return { handlers: { nodeSecrets: createNodeSecrets(ports) } }
}
