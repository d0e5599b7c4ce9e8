import { answering, withHeaders, withJson, TRANSFER, auditing, type Fault } from './fault.ts'

const SUCCESS = 'serves a valid call as its document says, and audits it'

/** Answers to valid calls that are not what the contract says. */
export const successFaults: readonly Fault[] = [
  {
    fault: 'a required member is missing in the answer',
    operation: 'CreateThing',
    rule: SUCCESS,
    edge: withJson(({ slug: _slug, ...json }) => json),
    says: 'must have required property',
  },
  {
    fault: 'a member of the answer has another type',
    ...TRANSFER,
    rule: SUCCESS,
    edge: withJson(() => ({ moved: 'three' })),
    says: '/moved must be integer',
  },
  {
    fault: 'a success has another status',
    operation: 'CreateThing',
    rule: SUCCESS,
    edge: answering((answer) => ({ ...answer, status: 200 })),
    says: "'200'",
  },
  {
    fault: 'a declared header is missing',
    operation: 'CreateThing',
    rule: SUCCESS,
    edge: withHeaders({ location: undefined }),
    says: 'location',
  },
  {
    fault: 'JSON is labelled as text',
    ...TRANSFER,
    rule: SUCCESS,
    edge: withHeaders({ 'content-type': 'text/plain' }),
    says: 'application/json',
  },
  {
    fault: 'an empty answer is not empty',
    operation: 'DeleteThing',
    rule: SUCCESS,
    edge: answering((answer) => ({ ...answer, text: 'deleted' })),
    says: 'deleted',
  },
  {
    fault: 'a success leaves no audit row',
    operation: 'CreateThing',
    rule: SUCCESS,
    change: auditing(() => []),
    says: 'to be 1',
  },
  {
    fault: 'a success leaves two audit rows',
    ...TRANSFER,
    rule: SUCCESS,
    change: auditing((rows) => [...rows, ...rows]),
    says: 'to be 1',
  },
  {
    fault: 'a success is audited under another relation',
    ...TRANSFER,
    rule: SUCCESS,
    change: auditing((rows) => rows.map((row) => ({ ...row, relation: 'fixture.other' }))),
    says: "'fixture.other'",
  },
  {
    fault: 'an audit row has a hole for an object',
    ...TRANSFER,
    rule: SUCCESS,
    change: auditing((rows) => rows.map((row) => ({ ...row, object: 'project:{body.project_id}' }))),
    says: 'project:{body.project_id}',
  },
]
