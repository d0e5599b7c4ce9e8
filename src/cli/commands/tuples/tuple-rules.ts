import { validateTuple } from '../../../shared/authz/validate-tuple.ts'
import { isNonZeroUuid, parseReference } from '../../../shared/ids.ts'
import { Problem } from '../../../shared/problems.ts'
import { isRow } from '../../output/members.ts'
import { caveatOf, type Fault, type TupleRequest, type TupleRow } from './tuple-request.ts'

/** A reference with the short words of the command line written out: `platform`, `service:build`, `group:ops` as a subject. */
export function shorthand(text: string, part: 'subject' | 'resource'): string {
  if (text === 'platform') return 'platform:main'
  const parsed = parseReference(text)
  if (parsed === undefined) return text
  const type = parsed.type === 'service' ? 'serviceaccount' : parsed.type
  const isBareGroup = part === 'subject' && type === 'group' && !parsed.id.includes('#')
  return `${type}:${parsed.id}${isBareGroup ? '#member' : ''}`
}

/** What the schema has against a tuple, in words; undefined for nothing. Names may stand where ids do. */
export function faultOf(tuple: TupleRequest): string | undefined {
  const caveatName = caveatOf(tuple)
  try {
    validateTuple(
      {
        subject: withoutName(tuple.subject),
        relation: tuple.relation,
        resource: withoutName(tuple.resource),
        ...(caveatName !== '' && { caveatName }),
      },
      { structural: false },
    )
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return refusalOf(error, tuple, caveatName)
  }
}

function refusalOf({ extras }: Problem, tuple: TupleRequest, caveatName: string): string {
  const part = String(extras['part'])
  const [first] = Array.isArray(extras['errors']) ? extras['errors'] : []
  const reason = isRow(first) ? String(first['detail']) : 'is refused'
  const named: Readonly<Record<string, string>> = { ...textsOf(tuple), caveat: caveatName }
  return `${part} "${named[part] ?? ''}" ${reason}`
}

function textsOf({ subject, relation, resource }: TupleRequest): Readonly<Record<string, string>> {
  return { subject, relation, resource }
}

/** Names are looked up later and may be any text; what the schema judges is the rest. */
function withoutName(reference: string): string {
  const parsed = parseReference(reference)
  if (parsed === undefined) return reference
  const [id = '', relation] = parsed.id.split('#')
  if (id === '' || id === '*' || isNonZeroUuid(id)) return reference
  return `${parsed.type}:name${relation === undefined ? '' : `#${relation}`}`
}

/** Rows that say what an earlier one says. */
export function sameTuples(rows: readonly TupleRow[]): readonly Fault[] {
  const lines = new Map<string, number>()
  return rows.flatMap(({ line, tuple }) => {
    const key = JSON.stringify([tuple.subject, tuple.relation, tuple.resource, caveatOf(tuple)])
    const earlier = lines.get(key)
    if (earlier === undefined) lines.set(key, line)
    return earlier === undefined ? [] : [{ line, message: `is the tuple of line ${earlier} again` }]
  })
}
