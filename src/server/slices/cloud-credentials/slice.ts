import type { Slice } from '../../http/slice.ts'
import { createCloudCredentials, type CloudCredentialsDeps } from './service.ts'

export { events } from './events.ts'

/** Credentials of Clouds. */
export function createSlice(ports: CloudCredentialsDeps): Slice<'cloudCredentials'> {
  return { handlers: { cloudCredentials: createCloudCredentials(ports) } }
}
