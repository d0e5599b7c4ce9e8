import type { Slice } from '../../http/slice.ts'
import { createProviderBundles, type ProviderBundlesDeps } from './service.ts'

export { tupleConsumer } from './event-tuples.ts'
export { events } from './events.ts'

/** Provider bundles: provider configurations that several Clouds share, with their versions. */
export function createSlice(ports: ProviderBundlesDeps): Slice<'providerBundles'> {
  return { handlers: { providerBundles: createProviderBundles(ports) } }
}
