import type { JsonSchema } from './contract/json-schema.ts'

/**
 * A value of the wire, declared once: what its readers check, and the JSON Schema that documents it and that the compatibility gate
 * compares. Not a zod schema, since agents check every event that they receive and a call of the command line loads no zod.
 */
export interface Shape<T> {
  readonly schema: JsonSchema
  /** Whether a value has this shape. Members of objects that the shape does not name are allowed. */
  readonly fits: (value: unknown) => boolean
  /** Never set: it keeps the shape of one type from being used for another. */
  readonly of?: (value: T) => T
}

/** A member that may be absent. */
export interface OptionalShape<T> {
  readonly optional: Shape<T>
}

/** The shape of each member of a type. A member that is missing here, or optional on one side only, does not compile. */
export type MemberShapes<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name>
    ? OptionalShape<Exclude<T[Name], undefined>>
    : Shape<T[Name]>
}

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** Keywords that say more than a reader checks: it takes any text. */
export type TextNotes = Pick<JsonSchema, 'format' | 'description'>

/** Any text. */
export function text(notes: TextNotes = {}): Shape<string> {
  return { schema: { type: 'string', ...notes }, fits: isText }
}

/** A text that passes a check, which the keywords express. */
export function textThat(fits: (value: string) => boolean, keywords: JsonSchema): Shape<string> {
  return { schema: { type: 'string', ...keywords }, fits: (value) => typeof value === 'string' && fits(value) }
}

/** A whole number that a double represents exactly. */
export function integer(bounds: Pick<JsonSchema, 'minimum' | 'description'> = {}): Shape<number> {
  const { minimum = Number.MIN_SAFE_INTEGER } = bounds
  return {
    schema: { type: 'integer', ...bounds, maximum: Number.MAX_SAFE_INTEGER },
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= minimum,
  }
}

/** One value and no other. */
export function constant<const Value extends string | number>(only: Value, description?: string): Shape<Value> {
  return {
    schema: { type: typeof only, const: only, ...(description !== undefined && { description }) },
    fits: (value) => value === only,
  }
}

/** One of these words. A later server may have more: a reader that does not know one treats the whole value as unknown. */
export function oneOf<const Word extends string>(words: readonly Word[]): Shape<Word> {
  const known: readonly unknown[] = words
  return { schema: { type: 'string', enum: [...words] }, fits: (value) => known.includes(value) }
}

/** One of these words, or another one of a later server, which a reader skips. */
export function openWord<const Word extends string>(words: readonly Word[]): Shape<Word> {
  return { schema: { anyOf: [{ type: 'string', enum: [...words] }, { type: 'string' }] }, fits: isText }
}

/** Any list of values of one shape. */
export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  const { fits } = item
  return {
    // Linters of OpenAPI require `items` also where anything fits.
    schema: { type: 'array', items: item.schema },
    fits: (value) => Array.isArray(value) && value.every((each) => fits(each)),
  }
}

/** Any JSON object. */
export const anyObject: Shape<Members> = { schema: { type: 'object' }, fits: isMembers }

/** Any JSON value. */
export const anything: Shape<unknown> = { schema: {}, fits: () => true }

/** The same shape with a description for readers of its schema. */
export function described<T>(shape: Shape<T>, description: string): Shape<T> {
  return { ...shape, schema: { ...shape.schema, description } }
}

/** A member that may be absent. */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: shape }
}

/** An object with these members and any others. */
export function object<T>(members: MemberShapes<T>, description?: string): Shape<T> {
  // The mapped type of `members` says what each of them is.
  const entries = Object.entries<Shape<never> | OptionalShape<never>>(members as never).map(readMember)
  return {
    schema: {
      type: 'object',
      ...(description !== undefined && { description }),
      properties: Object.fromEntries(entries.map(({ name, shape }) => [name, shape.schema])),
      required: entries.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    },
    fits: (value) => isMembers(value) && entries.every((entry) => memberFits(value, entry)),
  }
}

interface MemberEntry {
  readonly name: string
  readonly shape: Shape<never>
  readonly isOptional: boolean
}

function readMember([name, declared]: readonly [string, Shape<never> | OptionalShape<never>]): MemberEntry {
  return 'optional' in declared
    ? { name, shape: declared.optional, isOptional: true }
    : { name, shape: declared, isOptional: false }
}

/** Own members only: a value must not be read through the prototype. */
function memberFits(value: Members, { name, shape, isOptional }: MemberEntry): boolean {
  return Object.hasOwn(value, name) ? shape.fits(value[name]) : isOptional
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Whether a value is a JSON object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
