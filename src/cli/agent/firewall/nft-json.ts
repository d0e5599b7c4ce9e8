/** A value of the JSON that nft reads (libnftables-json(5)). */
export type NftValue = null | string | number | boolean | readonly NftValue[] | { readonly [member: string]: NftValue }

/** A command of a transaction, such as `{"add": {"rule": …}}`. */
export type NftCommand = { readonly [verb: string]: NftValue }

/** Statements of a rule. */
export type NftRule = readonly NftValue[]

export const ACCEPT: NftValue = { accept: null }
export const DROP: NftValue = { drop: null }

export function equals(left: NftValue, right: NftValue): NftValue {
  return { match: { op: '==', left, right } }
}

export function differs(left: NftValue, right: NftValue): NftValue {
  return { match: { op: '!=', left, right } }
}

/** Whether one of the bits is set. */
export function hasState(...states: readonly string[]): NftValue {
  return { match: { op: 'in', left: { ct: { key: 'state' } }, right: states } }
}

export function meta(key: string): NftValue {
  return { meta: { key } }
}

export function payload(protocol: string, field: string): NftValue {
  return { payload: { protocol, field } }
}

export function oneOf(values: readonly NftValue[]): NftValue {
  return { set: values }
}

/** Counts into a named counter. */
export function countedBy(counter: string): NftValue {
  return { counter }
}
