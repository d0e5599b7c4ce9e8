import { isNonZeroUuid } from '../ids.ts'

/** A subject or object as references name it. */
export interface Reference {
  readonly type: string
  /** `*` for everyone of the type. UUIDs are in lower case. */
  readonly id: string
  /** Empty for the object itself; `member` in `group:x#member`. */
  readonly relation: string
}

const OBJECT_ID = /^[a-zA-Z0-9/_|=+-]{1,1024}$/
const NAME = /^[a-z][a-z0-9_-]*$/

/** Whether the text may be the id of one object, as SpiceDB has it. `*` is none. */
export function isObjectId(id: string): boolean {
  return OBJECT_ID.test(id)
}

/** The id as it is stored: UUIDs may be written in capitals, other ids mean what they are. */
export function storedId(id: string): string {
  return isNonZeroUuid(id) ? id.toLowerCase() : id
}

/** Parses `<type>:<id>`, `<type>:*` or `<type>:<id>#<relation>`; undefined when the text is none of them. */
export function parseTupleReference(text: string): Reference | undefined {
  const colon = text.indexOf(':')
  const hash = text.indexOf('#', colon)
  const type = text.slice(0, colon)
  const id = text.slice(colon + 1, hash < 0 ? text.length : hash)
  const relation = hash < 0 ? '' : text.slice(hash + 1)
  if (colon < 1 || !(isObjectId(id) || id === '*')) return undefined
  return hash < 0 || (NAME.test(relation) && id !== '*') ? { type, id: storedId(id), relation } : undefined
}
