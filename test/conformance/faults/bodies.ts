import { asking, withBody, text, always, trimmed, TRANSFER, knownTransfer, type Fault } from './fault.ts'

const CAP = 'refuses one byte more than its cap, with an announced length and without'
const EXACT = 'takes a body of exactly its cap'
const MEMBERS = 'refuses a member that it does not know'
const DECODING = 'refuses what is not JSON, not UTF-8, not an object or cannot be stored'
const MEDIA = 'refuses other media types'
const BODILESS = 'refuses a body with members, since it takes none'

/** Bodies that should not have been taken. */
export const bodiesFaults: readonly Fault[] = [
  { fault: 'there is no cap', ...TRANSFER, rule: CAP, edge: withBody(trimmed, always), says: 'status: 200' },
  {
    fault: 'the cap is held to announced lengths alone',
    ...TRANSFER,
    rule: CAP,
    edge: withBody(trimmed, ({ chunked }) => chunked === true),
    says: 'status: 200',
  },
  {
    fault: 'the cap is a byte too small',
    ...TRANSFER,
    rule: EXACT,
    edge: withBody((body) => `${body} `, always),
    says: '413',
  },
  {
    fault: 'unknown members are ignored',
    ...TRANSFER,
    rule: MEMBERS,
    edge: withBody(knownTransfer, always),
    says: 'status: 200',
  },
  {
    fault: 'a member named __proto__ is ignored',
    ...TRANSFER,
    rule: MEMBERS,
    edge: withBody(knownTransfer, (wire) => text(wire).includes('__proto__')),
    says: 'status: 200',
  },
  ...['{"a":}', '[]', '\ufeff{}', '\\u0000', '\\ud800', '\ufffd', '[['].map((part) => ({
    fault: `the body ${JSON.stringify(part)} is taken`,
    ...TRANSFER,
    rule: DECODING,
    edge: withBody(knownTransfer, (wire) => text(wire).includes(part)),
    says: 'status: 200',
  })),
  {
    fault: 'the media type is not looked at',
    ...TRANSFER,
    rule: MEDIA,
    edge: asking((wire) => ({ ...wire, headers: { ...wire.headers, 'content-type': 'application/json' } })),
    says: 'status: 200',
  },
  {
    fault: 'a body that nobody asked for is ignored',
    operation: 'PostSteppedUp',
    rule: BODILESS,
    edge: asking(({ body: _body, ...wire }) => wire),
    says: 'status: 204',
  },
]
