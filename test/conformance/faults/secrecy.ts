import { PROJECT } from '../../support/server/fixture-callers.ts'
import { answering, asking, withHeaders, withJson, type BrokenEdge, type Fault } from './fault.ts'

const OUTSIDERS = 'answers those who may not see a thing as if it did not exist'
const ELSEWHERE = 'answers an administrator who names a thing of another Domain as if it did not exist'
const OPAQUE = 'mints cursors of one length that tell nothing of the rows'
const BOUND = 'refuses cursors that were altered, and those of another parent'
const OTHER_LIST = 'refuses the cursor of another list'
const CALLERS = 'takes the cursor of another caller only where the list does not bind callers'
const NO_STORE = 'keeps answers that show a secret once out of caches, and refusals with them'
const SUCCESS = 'serves a valid call as its document says, and audits it'
const ZERO = 'refuses the zero UUID wherever it takes an id'

/** Things of the fixture have such ids; one that nothing has is random. */
const KNOWN = /-9d0a-0{6}/

/** A refusal that concerns what is there says so. */
const telling = answering((answer, { path }) =>
  answer.status === 404 && KNOWN.test(path) ? { ...answer, status: 403 } : answer,
)

const readable: BrokenEdge = withJson((json) => {
  const { items = [], next_cursor: next } = json as { items?: readonly object[]; next_cursor?: string | null }
  if (typeof next !== 'string') return json
  return { ...json, next_cursor: Buffer.from(JSON.stringify(items)).toString('base64url') }
})

/** Answers of lists without the cursor that was sent. */
const anyCursor = asking((wire) => ({ ...wire, path: wire.path.replace(/&cursor=[\w-]*/, '') }))

/** Secrets that outsiders, caches and cursors are given. */
export const secrecyFaults: readonly Fault[] = [
  {
    fault: 'a denial tells that the thing is there',
    operation: 'PatchThing',
    rule: OUTSIDERS,
    edge: telling,
    says: 'nobody learns from id whether it exists',
  },
  {
    fault: 'an exception outlives its reason',
    operation: 'DeleteThing',
    rule: OUTSIDERS,
    edge: answering((answer) => ({ ...answer, status: 404, text: '' })),
    says: 'it needs no exception any more',
  },
  {
    fault: 'managers of another Domain learn what is there',
    operation: 'ArchiveThing',
    rule: ELSEWHERE,
    edge: telling,
    says: 'learns from id whether it exists',
  },
  { fault: 'cursors can be read', operation: 'ListThings', rule: OPAQUE, edge: readable, says: 'to be false' },
  {
    fault: 'cursors of any list are taken',
    operation: 'ListOwnThings',
    rule: BOUND,
    edge: anyCursor,
    says: 'status: 200',
  },
  {
    fault: 'cursors are not bound to their parent',
    operation: 'ListProjectThings',
    rule: BOUND,
    edge: asking((wire) => ({ ...wire, path: wire.path.replace(/projects\/[^/]*/, `projects/${PROJECT}`) })),
    says: 'status: 200',
  },
  {
    fault: 'the cursor of another list is taken',
    operation: 'ListOwnThings',
    rule: OTHER_LIST,
    edge: anyCursor,
    says: 'status: 200',
  },
  {
    fault: 'cursors are not bound to their caller',
    operation: 'ListOwnThings',
    rule: CALLERS,
    edge: anyCursor,
    says: 'status: 200',
  },
  {
    fault: 'a secret that is shown once may be kept',
    operation: 'ArchiveThing',
    rule: NO_STORE,
    edge: withHeaders({ 'cache-control': undefined }),
    says: "'no-store'",
  },
  {
    fault: 'a credential is in an answer that may be kept',
    operation: 'ArchiveThing',
    rule: SUCCESS,
    edge: withHeaders({ 'cache-control': 'private' }),
    says: "'no-store'",
  },
  {
    fault: 'the zero UUID is an id like any other',
    operation: 'PostTransfer',
    rule: ZERO,
    edge: answering((answer, { body }) =>
      String(body).includes('00000000-0000-0000') ? { ...answer, status: 403 } : answer,
    ),
    says: '403',
  },
]
