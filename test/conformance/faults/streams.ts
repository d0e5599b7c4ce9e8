import { answering, withHeaders, type Fault } from './fault.ts'

const STREAMS = 'streams without being kept, held back or measured, and begins at once'
const TICKS = { operation: 'GetTicks', rule: STREAMS } as const

/** Streams that would not reach their readers, or not as such. */
export const streamFaults: readonly Fault[] = [
  {
    fault: 'a stream may be kept',
    ...TICKS,
    edge: withHeaders({ 'cache-control': undefined }),
    says: 'no-cache',
  },
  {
    fault: 'a stream may be held back',
    ...TICKS,
    edge: withHeaders({ 'x-accel-buffering': undefined }),
    says: 'x-accel-buffering',
  },
  {
    fault: 'a stream has a length',
    ...TICKS,
    edge: withHeaders({ 'content-length': '5' }),
    says: 'content-length',
  },
  {
    fault: 'a stream begins with something else',
    ...TICKS,
    edge: answering((answer) => ({ ...answer, text: '{}' })),
    says: '{}',
  },
]
