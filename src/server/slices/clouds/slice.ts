import type { Slice } from '../../http/slice.ts'
import { createClouds, type CloudsDeps } from './service.ts'

export { events } from './events.ts'

/** Clouds: accounts at cloud platforms, each with a provider configuration. */
export function createSlice(ports: CloudsDeps): Slice<'clouds'> {
  return { handlers: { clouds: createClouds(ports) } }
}
