import type { Slice } from '../../http/slice.ts'

/** To be written. */
export function createSlice(_ports: object): Slice<'artifacts'> {
  return { handlers: { artifacts: undefined } }
}
