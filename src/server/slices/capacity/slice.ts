import type { Slice } from '../../http/slice.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** The capacity of Domains: samples, targets and their history. */
export function createSlice(_ports: object): Slice<'capacity'> {
  return { handlers: { capacity: undefined } }
}
