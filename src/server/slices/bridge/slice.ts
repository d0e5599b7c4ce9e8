import type { Slice } from '../../http/slice.ts'

/** Bridges: relays, user access, public ingress and tunnels to other sites. */
export function createSlice(_ports: object): Slice<'bridge'> {
  return { handlers: { bridge: undefined } }
}
