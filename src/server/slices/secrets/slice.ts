import type { Slice } from '../../http/slice.ts'
import { createSecrets, type SecretsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Secrets of Projects. */
export function createSlice(ports: SecretsDeps): Slice<'secrets'> {
  return { handlers: { secrets: createSecrets(ports) } }
}
