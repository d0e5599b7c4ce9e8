import type { Slice } from '../../http/slice.ts'

export function createSlice(_ports: object): Slice<'policies'> {
  return { handlers: { policies: undefined } }
}
