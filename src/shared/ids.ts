export const ZERO_UUID = '00000000-0000-0000-0000-000000000000'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID of any version other than the zero UUID (S0 convention 1). */
export function isNonZeroUuid(text: string): boolean {
  return UUID.test(text) && text !== ZERO_UUID
}

const ZERO_REFERENCE = new RegExp(`^[^:]*:${ZERO_UUID}(?:#|$)`)

/** Whether a reference such as `user:<uuid>` or `group:<uuid>#member` names the zero UUID. */
export function namesZeroUuid(reference: string): boolean {
  return ZERO_REFERENCE.test(reference)
}

const STORED_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The same, and in lower case, as ids are stored. */
export function isStoredUuid(text: string): boolean {
  return STORED_UUID.test(text) && text !== ZERO_UUID
}

/** A reference to one object or subject of the authorization model, `<type>:<id>` or `<type>:<id>#<relation>`. */
export type ObjectReference = `${string}:${string}`

/** The only platform object; the parent of every Domain. */
export const PLATFORM: ObjectReference = 'platform:main'

/** Splits `<type>:<id>` at its first colon; undefined when either half is empty. */
export function parseReference(reference: string): { type: string; id: string } | undefined {
  const colon = reference.indexOf(':')
  if (colon < 1 || colon === reference.length - 1) return undefined
  return { type: reference.slice(0, colon), id: reference.slice(colon + 1) }
}
