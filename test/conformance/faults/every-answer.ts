import { answering, withHeaders, withJson, TRANSFER, type Fault } from './fault.ts'

const CREDENTIAL = 'refuses a caller without a credential that resolves, and says how to sign in'
const METHODS = 'answers other methods of its path with 405 and names those that it has'
const DECODING = 'refuses what is not JSON, not UTF-8, not an object or cannot be stored'
const SUCCESS = 'serves a valid call as its document says, and audits it'

/** What every answer or every problem must have, and these have not. */
export const everyAnswerFaults: readonly Fault[] = [
  {
    fault: 'the correlation id is missing',
    ...TRANSFER,
    rule: SUCCESS,
    edge: withHeaders({ 'x-correlation-id': undefined }),
    says: 'conformance.',
  },
  {
    fault: 'the correlation id is one of the server',
    operation: 'PatchThing',
    rule: METHODS,
    edge: withHeaders({ 'x-correlation-id': 'another' }),
    says: "'another'",
  },
  {
    fault: 'the version of the API is missing',
    ...TRANSFER,
    rule: SUCCESS,
    edge: withHeaders({ 'x-service-api-version': undefined }),
    says: 'current=v1',
  },
  {
    fault: 'a deprecated operation does not say so',
    operation: 'GetOldThing',
    rule: SUCCESS,
    edge: withHeaders({ deprecation: undefined }),
    says: 'undefined',
  },
  {
    fault: 'a problem has no correlation id',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: withJson(({ correlation_id: _id, ...json }) => json),
    says: 'correlation_id',
  },
  {
    fault: 'a problem is labelled as JSON',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: withHeaders({ 'content-type': 'application/json' }),
    says: 'application/problem+json',
  },
  {
    fault: 'a problem tells what failed inside',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: withJson((json) => ({ ...json, detail: 'relation "tokens" does not exist' })),
    says: 'relation "tokens" does not exist',
  },
  {
    fault: 'a problem has the status of another',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: answering((answer) => ({ ...answer, status: 403 })),
    says: 'status: 403',
  },
  {
    fault: 'an operation raises a code that it does not declare',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: withJson((json) => ({ ...json, code: 'invalid_join_token' })),
    says: "'invalid_join_token'",
  },
  {
    fault: 'a code is missing in the document',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    change: ({ document }) => ({ document: { ...document, codes: () => [] } }),
    says: "'unauthenticated'",
  },
  {
    fault: 'a code is missing in the manifest',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    change: () => ({ problems: [] }),
    says: "'unauthenticated'",
  },
  {
    fault: 'the server fails at wrong input',
    ...TRANSFER,
    rule: DECODING,
    edge: answering((answer) => ({ ...answer, status: 500, json: { ...answer.json, status: 500, code: 'internal' } })),
    says: "'internal'",
  },
]
