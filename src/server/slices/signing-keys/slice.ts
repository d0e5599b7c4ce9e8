import type { Slice } from '../../http/slice.ts'
import type { Signer } from '../../ports/signer.ts'
import { createSigningKeys } from './service.ts'

export { events } from './events.ts'

/** Public keys that verify event envelopes and session tokens, and their rotation. */
export function createSlice(ports: { readonly signer: Signer }): Slice<'signingKeys'> {
  return { handlers: { signingKeys: createSigningKeys(ports) } }
}
