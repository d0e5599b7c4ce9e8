import { answering, lenient, withoutMember, withHeaders, withJson, type Fault } from './fault.ts'

const PATH = 'refuses a malformed path member with its own code'
const ENCODING = 'refuses broken percent-encoding in its path'
const QUERY = 'refuses query members that it does not know, repeated ones and broken percent-encoding'
const LISTS = 'keeps to the bounds of lists and to cursors of its own'
const METHODS = 'answers other methods of its path with 405 and names those that it has'

/** Path, query and methods that are not looked at. */
export const parametersFaults: readonly Fault[] = [
  {
    fault: 'an id that is none is taken',
    operation: 'CreateThing',
    rule: PATH,
    edge: lenient(({ path }) => path.includes('not-an-id')),
    says: 'status: 200',
  },
  {
    fault: 'U+0000 in the path is taken',
    operation: 'GetThing',
    rule: PATH,
    edge: lenient(({ path }) => path.includes('%00')),
    says: 'status: 200',
  },
  {
    fault: 'broken percent-encoding is an unknown path',
    operation: 'GetThing',
    rule: ENCODING,
    edge: withJson((json) => ({ ...json, code: 'not_found' })),
    says: "'invalid_path'",
  },
  {
    fault: 'unknown query members are ignored',
    operation: 'ListThings',
    rule: QUERY,
    edge: withoutMember('unknown_member'),
    says: 'status: 200',
  },
  {
    fault: 'of repeated query members the last counts',
    operation: 'ListOwnThings',
    rule: QUERY,
    edge: withoutMember('cursor'),
    says: 'status: 200',
  },
  {
    fault: 'limits have no bounds',
    operation: 'ListThings',
    rule: LISTS,
    edge: withoutMember('limit'),
    says: 'status: 200',
  },
  {
    fault: 'a clamped limit is refused',
    operation: 'ListOwnThings',
    rule: LISTS,
    edge: answering((answer, { path }) => (path.includes('limit=201') ? { ...answer, status: 400 } : answer)),
    says: '400',
  },
  {
    fault: 'cursors are ignored',
    operation: 'ListOwnThings',
    rule: LISTS,
    edge: withoutMember('cursor'),
    says: 'status: 200',
  },
  {
    fault: 'another method is an unknown path',
    operation: 'PatchThing',
    rule: METHODS,
    edge: answering((answer) => ({ ...answer, status: 404 })),
    says: '404',
  },
  {
    fault: 'a 405 does not name the methods',
    operation: 'PatchThing',
    rule: METHODS,
    edge: withHeaders({ allow: 'GET' }),
    says: "'PATCH'",
  },
]
