import { z } from 'zod'
import { isNonZeroUuid, namesZeroUuid } from '../ids.ts'
import type { InvalidCode } from '../problems.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** The 400 code when this member is invalid (S0 Errors). */
    problem?: InvalidCode | undefined
    /** JSON Schema: sent and never returned. The command line reads it from a file, since other users can read arguments. */
    writeOnly?: boolean | undefined
  }
}

/** A UUID other than zero; invalid values are refused with `code`. Lower-cased, as ids are stored. */
export function uuidField(code: InvalidCode, describe: string): z.ZodType<string, string> {
  return z
    .string()
    .refine(isNonZeroUuid, { error: 'must be a UUID other than zero' })
    .transform((id) => id.toLowerCase())
    .meta({ problem: code, description: describe, format: 'uuid', examples: ['01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'] })
}

/** A UUID in an answer. */
export const Uuid = z.string().meta({ format: 'uuid' })

/** An instant in an answer: RFC 3339, UTC, milliseconds. */
export const Instant = z.string().meta({ format: 'date-time' })

/** Members that most objects have, for answers. */
export const OwnId = Uuid.describe('Id of the object: a UUID, assigned by the server')
export const InDomain = Uuid.describe('Id of the Domain that it belongs to')
export const InProject = Uuid.describe('Id of the Project that it belongs to')
export const OfNode = Uuid.describe('Id of the node')
export const CreatedAt = Instant.describe('When it was created')
export const UpdatedAt = Instant.describe('When it was changed last')
export const CreatedBy = z.string().describe('Subject that created it, `user:<uuid>` or `serviceaccount:<uuid>`')
export const ShownSlug = z.string().describe('Name for scripts, unique in its place')
export const ShownName = z.string().describe('Name for people')
export const CorrelationId = z.string().describe('Identifies the request in the server log and the audit log')

/** `limit` of a list: digits only, since coercion would accept `0x10` and `1e2`. The edge applies the operation's limit rule. */
export const Limit = z
  .string()
  .regex(/^-?\d{1,15}$/)
  .transform(Number)
  .optional()
  .meta({ problem: 'invalid_limit', description: 'Page size, 1 to 200; 50 when absent' })

/** `limit` of a list that clamps it: any whole number. Anything else is `invalid_query`. */
const ClampedLimit = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number)
  .optional()
  .meta({ description: 'Page size; less than 1 counts as 1, more than 200 as 200; 50 when absent' })

/** `cursor` of a list: opaque; the edge verifies it and hands the position to the handler. */
export const Cursor = z
  .string()
  .max(2048)
  .optional()
  .meta({ problem: 'invalid_cursor', description: 'Start of the page: next_cursor of the previous page' })

/** The query members of a cursor-paged list whose `limit` is refused out of range. */
export const pageQuery = { cursor: Cursor, limit: Limit }

/** Those of a list whose `limit` is clamped. */
export const clampedPageQuery = { cursor: Cursor, limit: ClampedLimit }

/** A page of items as every list answers it (S0 convention 5). */
export function pageOf<S extends z.ZodType>(
  items: S,
): z.ZodObject<{ items: z.ZodArray<S>; next_cursor: z.ZodOptional<z.ZodNullable<z.ZodString>> }> {
  return z.object({
    items: z.array(items).describe('The objects of this page'),
    next_cursor: z
      .string()
      .nullable()
      .optional()
      .describe('`cursor` of the next page; null or absent at the end of the list'),
  })
}

/** Kebab-case, letters and digits, at most 63 characters: slugs and node names (a DNS label). */
export const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    error: 'must be lower-case letters, digits and inner hyphens, at most 63',
  })
  .describe('Name for scripts, unique in its place: lower-case letters, digits and inner hyphens, at most 63')

/** For creations: the label `platform/managed-by`, written together with the object. */
export const ManagedBy = Slug.optional().describe(
  'Name of the set of files that creates it: the object has it as its label platform/managed-by from the start',
)

/** Labels that one node has at most. */
export const LABELS_MAX = 64

export const DisplayName = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => name.trim().length > 0, { error: 'must not be blank' })
  .describe('Name for people, 1 to 128 characters')

/** Why somebody ended or refused something (S1 Limits: decision reason). */
export const DecisionReason = z
  .string()
  .max(1024)
  .refine((text) => text.trim().length > 0, { error: 'must not be blank' })
  .meta({ problem: 'invalid_decision_reason' })

/** Labels of a node: at most 64. */
export const Labels = z
  .record(z.string().regex(/^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$/), z.string().max(256))
  .refine((labels) => Object.keys(labels).length <= LABELS_MAX, { error: `must have at most ${LABELS_MAX} labels` })
  .describe(`Labels by key, at most ${LABELS_MAX}`)

/** `<type>:<id>`, optionally `#<relation>`; the zero UUID names nothing. */
export const Reference = z
  .string()
  .min(1)
  .max(512)
  .refine((text) => !namesZeroUuid(text), { error: 'must not name the zero UUID' })

/** Any JSON, also `null`, but required. */
export const JsonValue = z.unknown().refine((value) => value !== undefined, { error: 'is required' })

/** Bytes in a KiB, for body caps. */
export const KiB = 1024
