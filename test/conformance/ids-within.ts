const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** An id by itself, or within a reference such as `user:<uuid>` or `group:<uuid>#member`. A name that contains one is none. */
const ID = new RegExp(`(?<=^(?:[a-z_]+:)?)${UUID}(?=(?:#[a-z]+)?$)`, 'i')

type Input = Readonly<Record<string, unknown>>

/** Where an input names something by its id: the members and indexes that lead there. */
export type IdPlace = readonly (string | number)[]

/** Every place of an input that names something by its id. */
export function idPlaces(input: unknown, at: IdPlace = []): readonly IdPlace[] {
  if (typeof input === 'string') return ID.test(input) ? [at] : []
  if (Array.isArray(input)) return input.flatMap((item, index) => idPlaces(item, [...at, index]))
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, member]) => idPlaces(member, [...at, name]))
}

/** The id at a place; undefined where there is none. */
export function idAt(input: Input, place: IdPlace): string | undefined {
  let at: unknown = input
  for (const step of place) at = (at as Readonly<Record<string | number, unknown>> | undefined)?.[step]
  return typeof at === 'string' ? ID.exec(at)?.[0] : undefined
}

/** The input with another id at a place; the rest of a reference stays. */
export function withId<I extends Input>(input: I, place: IdPlace, id: string): I {
  const copy = structuredClone(input)
  const [last = '', ...way] = place.toReversed()
  let at = copy as Record<string | number, unknown>
  // The place was found in the input, so that objects and arrays lead there.
  for (const step of way.toReversed()) at = at[step] as Record<string | number, unknown>
  at[last] = String(at[last]).replace(ID, id)
  return copy
}

/** An id that nothing has, of the same version and time. */
export function unknownLike(id: string): string {
  const tail = Math.floor(Math.random() * 0xffffffffffff)
  return `${id.slice(0, -12)}${tail.toString(16).padStart(12, '0')}`
}
