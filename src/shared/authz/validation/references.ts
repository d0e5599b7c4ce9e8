import type { Scanner } from './scanner.ts'

/** A relation or permission of one object: `document:plan#view`. */
export interface ObjectRelation {
  readonly type: string
  readonly id: string
  readonly relation: string
}

/** `user:anne`, `user:*` or `group:eng#member`; the relation is empty for the object itself. */
export type SubjectReference = ObjectRelation

const TYPE = /(?:[a-z][a-z0-9_]{1,61}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9](?![a-z0-9_/])/y
const RELATION = /[a-z][a-z0-9_]{1,62}[a-z0-9](?![a-z0-9_])/y
const ID = /[a-zA-Z0-9/_|=+-]{1,1024}(?![a-zA-Z0-9/_|=+-])/y
const SUBJECT_ID = /\*|[a-zA-Z0-9/_|=+-]{1,1024}(?![a-zA-Z0-9/_|=+-])/y
const COLON = /:/y
const HASH = /#/y
const ELLIPSIS = /\.\.\./y

/** Reads `<type>:<id>#<relation>`. @throws TextFault */
export function scanObjectRelation(scanner: Scanner): ObjectRelation {
  const type = scanner.expect(TYPE, 'the type of an object')
  scanner.expect(COLON, '":" and the id of the object')
  const id = scanner.expect(ID, 'the id of an object, of letters, digits and /_|-=+')
  scanner.expect(HASH, '"#" and a relation or permission')
  return { type, id, relation: scanner.expect(RELATION, 'the name of a relation or permission') }
}

/** Reads `<type>:<id>`, `<type>:*` or `<type>:<id>#<relation>`; `#...` is the object itself. @throws TextFault */
export function scanSubject(scanner: Scanner): SubjectReference {
  const type = scanner.expect(TYPE, 'the type of a subject')
  scanner.expect(COLON, '":" and the id of the subject')
  const id = scanner.expect(SUBJECT_ID, 'the id of a subject, of letters, digits and /_|-=+, or "*"')
  if (scanner.take(HASH) === undefined || scanner.take(ELLIPSIS) !== undefined) return { type, id, relation: '' }
  return { type, id, relation: scanner.expect(RELATION, 'the name of a relation after "#"') }
}

export const nameOf = ({ type, id, relation }: ObjectRelation): string =>
  relation === '' ? `${type}:${id}` : `${type}:${id}#${relation}`
