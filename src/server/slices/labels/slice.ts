import type { Slice } from '../../http/slice.ts'

export function createSlice(_ports: object): Slice<'labels'> {
  return { handlers: { labels: undefined } }
}
