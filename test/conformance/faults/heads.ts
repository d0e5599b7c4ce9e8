import type { WireAnswer } from '../wire.ts'
import { answering, asking, auditing, type BrokenEdge, type Fault } from './fault.ts'

const ANSWERED = 'answers HEAD as GET, without the body: the same gate, headers and audit row'
const REFUSED = 'refuses HEAD to whom it refuses GET, and audits that'
const NO_HEAD = 'refuses HEAD with the methods that there are'

const ofHead = (change: (answer: WireAnswer) => WireAnswer): BrokenEdge =>
  answering((answer, { method }) => (method === 'HEAD' ? change(answer) : answer))

/** Servers that answer HEAD in another way than GET. */
export const headFaults: readonly Fault[] = [
  {
    fault: 'HEAD is answered with a body',
    operation: 'ListThings',
    rule: ANSWERED,
    edge: ofHead((answer) => ({ ...answer, text: '{}' })),
    says: '{}',
  },
  {
    fault: 'HEAD is not routed',
    operation: 'ListThings',
    rule: ANSWERED,
    edge: ofHead((answer) => ({ ...answer, status: 405 })),
    says: '405',
  },
  {
    fault: 'HEAD lacks a header of GET',
    operation: 'ListThings',
    rule: ANSWERED,
    edge: ofHead(({ headers: { 'content-length': _length, ...headers }, ...answer }) => ({ ...answer, headers })),
    says: 'true',
  },
  {
    fault: 'HEAD leaves no audit row',
    operation: 'ListThings',
    rule: ANSWERED,
    change: auditing(() => []),
    says: 'to be 1',
  },
  {
    fault: 'HEAD passes by the gate',
    operation: 'GetNodeNote',
    rule: REFUSED,
    edge: ofHead((answer) => (answer.status === 403 ? { ...answer, status: 200 } : answer)),
    says: '403',
  },
  {
    fault: 'HEAD needs no credential',
    operation: 'ListThings',
    rule: REFUSED,
    edge: ofHead((answer) => (answer.status === 401 ? { ...answer, status: 200 } : answer)),
    says: '401',
  },
  {
    fault: 'HEAD opens a stream',
    operation: 'GetTicks',
    rule: NO_HEAD,
    edge: asking((wire) => ({ ...wire, method: 'GET' })),
    says: '405',
  },
  {
    fault: 'HEAD is allowed and refused',
    operation: 'GetTicks',
    rule: NO_HEAD,
    edge: ofHead((answer) => ({ ...answer, headers: { ...answer.headers, allow: 'GET, HEAD' } })),
    says: 'HEAD',
  },
]
