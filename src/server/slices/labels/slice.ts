import type { Slice } from '../../http/slice.ts'
import { createGrantDefinitions } from './grant-definitions.ts'
import { createLabels, type LabelsDeps } from './service.ts'

export { contents } from './contents.ts'

/** Labels: what may be said of objects, and what is. */
export function createSlice(ports: LabelsDeps): Slice<'labels'> {
  return { handlers: { labels: createLabels(ports) }, jobs: [createGrantDefinitions(ports)] }
}
