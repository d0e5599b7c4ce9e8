import type { Slice } from '../../http/slice.ts'

/** Secrets for the nodes whose configuration names them. */
export function createSlice(_ports: object): Slice<'nodeSecrets'> {
  return { handlers: { nodeSecrets: undefined } }
}
