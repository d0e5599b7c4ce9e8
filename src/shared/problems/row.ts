/** One kind of refusal. `detail` is the whole sentence that a caller reads: fixed, so that no inner error leaks (S0 convention 2). */
export interface Row<Extras extends object = object> {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Last segment of `type` where it is not the kebab form of the code (S0's `binding_not_found`). */
  readonly slug?: string
  /** The problem names the members at fault in `fields` too. */
  readonly namesFields?: true
  /** The members that the problem has beyond those of RFC 9457. A type alone: no row has a value here. */
  readonly extras?: Extras
}

/** An invalid member: its pointer, and the rule. Never the value that was sent. */
export interface MemberError {
  /** RFC 6901. */
  readonly pointer: string
  readonly detail: string
}

/** How many objects of each kind prevent the change. */
export type Counts = Readonly<Record<string, number>>

/** A problem with the members `Extras`; by default with none. */
export function row<Extras extends object = NoMembers>(status: number, title: string, detail: string): Row<Extras> {
  return { status, title, detail }
}

/** A 400. It may name the members at fault. */
export function invalid<Extras = unknown>(
  title: string,
  detail: string,
): Row<Extras & { readonly errors?: readonly MemberError[] }> {
  return { status: 400, title, detail }
}

/** A 400 that also names, in `fields`, the members of the body at fault. */
export function invalidFields(
  title: string,
  detail: string,
): Row<{ readonly errors?: readonly MemberError[]; readonly fields?: readonly string[] }> {
  return { status: 400, title, detail, namesFields: true }
}

/** A 429. It always has the seconds after which a retry is useful, sent as `Retry-After`. */
export function limited<Extras = unknown>(
  title: string,
  detail: string,
): Row<Extras & { readonly retry_after_seconds: number }> {
  return { status: 429, title, detail }
}

/** A 503. It may have the seconds after which a retry is useful, sent as `Retry-After`. */
export function unavailable(title: string, detail: string): Row<{ readonly retry_after_seconds?: number }> {
  return { status: 503, title, detail }
}

/** No members at all: unlike `object`, it refuses every name. */
export type NoMembers = Readonly<Record<string, never>>
