import type { Slice } from '../../http/slice.ts'

export { contents } from './contents.ts'

/** To be written. */
export function createSlice(_ports: object): Slice<'rollouts'> {
  return { handlers: { rollouts: undefined } }
}
