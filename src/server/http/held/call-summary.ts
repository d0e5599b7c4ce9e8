import { jsonSchemaOf, type JsonSchema } from '../../../shared/contract/json-schema.ts'
import type { Operation } from '../../../shared/contract/operation.ts'

/** Code units that one member takes, and that the whole summary takes. */
const MEMBER_MAX = 400
const SUMMARY_MAX = 2000

const HIDDEN = '(hidden)'

type Members = Readonly<Record<string, unknown>>

/** What a held call sent, and what it waits for. */
export interface SummarizedCall {
  readonly path: Members
  readonly query: Members
  readonly body?: Members | undefined
  /** `<type>:<id>` */
  readonly object: string
}

const HOLE = /\{(path|query|body|held)\.([a-z_]+)\}/g

/**
 * One sentence on a held call for those who decide: what approving it does, and the members of its path, query and body that the
 * sentence of the operation does not have. Values that the contract marks as `writeOnly` are secrets and are left out, at any depth.
 */
export function summaryOf(
  { summary, dualControl, body: schema }: Pick<Operation, 'summary' | 'dualControl' | 'body'>,
  { path, query, body, object }: SummarizedCall,
): string {
  const shownBody =
    schema === undefined || body === undefined ? {} : withoutSecrets(body, jsonSchemaOf(schema, 'input'))
  // A body is an object, and stays one.
  const sources: Readonly<Record<string, Members>> = { path, query, body: shownBody as Members, held: { object } }
  const used = new Set<string>()
  const sentence = (dualControl?.sentence ?? summary).replaceAll(HOLE, (_, source: string, member: string) => {
    used.add(`${source}.${member}`)
    return clipped(textOf(sources[source]?.[member] ?? ''), MEMBER_MAX)
  })
  const others = (['path', 'query', 'body'] as const).flatMap((source) =>
    Object.entries(sources[source] ?? {}).filter(([member]) => !used.has(`${source}.${member}`)),
  )
  const shown = others.map(([name, value]) => `${name} ${clipped(memberText(name, value), MEMBER_MAX)}`)
  return clipped(shown.length === 0 ? `${sentence}.` : `${sentence}: ${shown.join(', ')}`, SUMMARY_MAX)
}

function withoutSecrets(value: unknown, schema: JsonSchema): unknown {
  const schemas = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  if (schemas.some(({ writeOnly }) => writeOnly === true)) return HIDDEN
  if (Array.isArray(value)) {
    const items = schemas.find((each) => each.items !== undefined)?.items ?? {}
    return value.map((item) => withoutSecrets(item, items))
  }
  if (typeof value !== 'object' || value === null) return value
  const member = (name: string): JsonSchema => ({
    anyOf: schemas.flatMap(({ properties }) => properties?.[name] ?? []),
  })
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, member(name))]))
}

/** A member such as `domain_id` as a reference, which gets the name of its object where it is shown. */
function memberText(name: string, value: unknown): string {
  const type = /^(domain|project|node|cloud|policy)_id$/.exec(name)?.[1]
  return type !== undefined && typeof value === 'string' ? `${type}:${value}` : textOf(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
