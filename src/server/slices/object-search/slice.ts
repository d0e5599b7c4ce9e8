import type { Slice } from '../../http/slice.ts'

export function createSlice(_ports: object): Slice<'objectSearch'> {
  return { handlers: { objectSearch: undefined } }
}
