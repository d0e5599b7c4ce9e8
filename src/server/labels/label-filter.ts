import { sql } from 'kysely'
import { bindSelector, type BoundSelector } from '../../shared/selectors/bind-selector.ts'
import { nearestDefinition, type Definition } from '../../shared/selectors/definition.ts'
import { parseSelector, type ParsedSelector } from '../../shared/selectors/parse-selector.ts'
import type { Key, Requirement, SelectorError } from '../../shared/selectors/syntax.ts'
import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import { definitionsNamed } from './definitions-in-scope.ts'

/** Which objects a list with a member `labels` shows. */
export type LabelFilter =
  | {
      readonly form: 'selector'
      readonly bound: BoundSelector
      /** Requirements whose key is that of any Definition that the object's own place sees. */
      readonly local: readonly Requirement[]
    }
  /** The form before selectors: text that the labels in the row of a node must have, by their keys there. */
  | { readonly form: 'texts'; readonly labels: Readonly<Record<string, string>> }
  /** A key that nobody defined. */
  | { readonly form: 'nothing' }

const NOTHING: LabelFilter = { form: 'nothing' }

/**
 * Reads the filter of a list of nodes: a selector, whose bare keys are those that the Domain sees, or, without a Domain, those that
 * the place of each node sees. A text that is no selector but `key=value,…` is read as lists did before there were selectors.
 *
 * @throws Problem `invalid_label_filter` with the errors of the selector.
 */
export async function readLabelFilter(db: Db, text: string, domainId: string | undefined): Promise<LabelFilter> {
  const parsed = parseSelector(text)
  if (parsed.selector === undefined) return textsOrRefusal(text, parsed.errors)
  const isLocal = ({ key }: Requirement): boolean => domainId === undefined && key.scope === undefined
  const local = parsed.requirements.filter((requirement) => isLocal(requirement))
  const requirements = parsed.requirements.filter((requirement) => !isLocal(requirement))
  const { bound, errors } = await bind(db, { ...parsed, requirements }, domainId)
  if (errors.some(({ code }) => code !== 'unknown_key')) return textsOrRefusal(text, errors)
  if (bound === undefined || !(await areDefined(db, local))) return NOTHING
  return { form: 'selector', bound, local }
}

async function bind(db: Db, parsed: ParsedSelector, domainId: string | undefined) {
  const at = domainId === undefined ? {} : { domainId }
  const keys = parsed.requirements.map(({ key }) => key)
  const definitions = await definitionsNamed(db, keys, at)
  return bindSelector(parsed, (key: Key): Definition | undefined => nearestDefinition(definitions, at, key))
}

/** Whether each of the keys is defined anywhere. */
async function areDefined(db: Db, requirements: readonly Requirement[]): Promise<boolean> {
  const keys = [...new Set(requirements.map(({ key }) => key.localKey))]
  if (keys.length === 0) return true
  const { rows } = await sql<{ local_key: string }>`
    select asked.local_key from (values ${sql.join(keys.map((key) => sql`(${key}::text)`))}) as asked (local_key)
    where exists (select from label_definitions as definition where definition.local_key = asked.local_key)`.execute(db)
  return rows.length === keys.length
}

const PAIRS = /^[^,=]+=[^,]*(,[^,=]+=[^,]*)*$/

function textsOrRefusal(text: string, errors: readonly SelectorError[]): LabelFilter {
  const labels = PAIRS.test(text) ? pairsIn(text) : undefined
  if (labels === undefined) throw problem('invalid_label_filter', { errors })
  return { form: 'texts', labels }
}

/** `key=value,key=value` as an object; undefined where a key is given two values, which no node has. */
function pairsIn(text: string): Readonly<Record<string, string>> | undefined {
  const labels = new Map<string, string>()
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)]
    if ((labels.get(key) ?? value) !== value) return undefined
    labels.set(key, value)
  }
  return Object.fromEntries(labels)
}
