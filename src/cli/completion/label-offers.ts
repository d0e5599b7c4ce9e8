import type { CompletedDefinition } from '../../shared/selectors/complete-selector.ts'
import { parseScope } from '../../shared/selectors/scope.ts'
import type { LabelValue, ValueSchema } from '../../shared/labels/schema-types.ts'
import { SELECTORS } from '../argv/selector.ts'
import { createResolver } from '../session/references.ts'
import type { Session } from '../session/session.ts'
import type { Offer } from './offer.ts'

/** Places that take labels: a selector, the key of a Definition, and `KEY=VALUE`. */
const NOUNS: ReadonlySet<string> = new Set([SELECTORS, 'label-keys', 'label-values'])

/** Whether what is completed are keys and values of labels. */
export function isOfLabels(noun: string): boolean {
  return NOUNS.has(noun)
}

/** A Definition as it is cached: its qualified key, and what completion needs of it. */
interface DefinitionOffer extends Offer {
  readonly schema: ValueSchema
}

/** A Definition as the API answers it, as far as it matters here. */
interface Row {
  readonly qualified_key: string
  readonly description: string
  readonly value_schema: ValueSchema
}

/** Definitions that completion looks at: those of one page. */
const PAGE = '200'

/** Finds the Definitions that may be named in the Domain of the command line. */
export async function definitionOffers(session: Session): Promise<readonly DefinitionOffer[]> {
  const domain = await createResolver(session).fallback('domains', {})
  const scope = domain === undefined ? 'platform' : `domain:${domain.id}`
  const caller = await session.caller()
  const operation = session.operation('ListLabelDefinitions')
  const { value } = await caller.call(operation, { scope, include: 'enclosing', limit: PAGE })
  const { items } = value as { readonly items: readonly Row[] } // What the contract says of 200.
  return items.map(({ qualified_key, description, value_schema: schema }) => ({
    value: qualified_key,
    hint: description,
    schema,
  }))
}

/** What may stand at the cursor. */
export interface LabelOffers {
  /** What of the word begun stays. */
  readonly kept: string
  readonly offers: readonly Offer[]
}

/** Completes the word begun with Definitions found before. */
export async function labelOffers(noun: string, found: readonly Offer[], begun: string): Promise<LabelOffers> {
  const definitions = found.flatMap((one) => ('schema' in one ? definitionOf(one as DefinitionOffer) : []))
  if (noun === SELECTORS) {
    const { completeSelector } = await import('../../shared/selectors/complete-selector.ts')
    const { kept, offers } = completeSelector(begun, definitions)
    return { kept, offers: offers.map(({ value, describe }) => ({ value, hint: describe })) }
  }
  const isPair = noun === 'label-values'
  const offers = definitions.flatMap((one) => (isPair ? pairs(one, begun.includes('=')) : [keyOffer(one, '')]))
  return { kept: '', offers: offers.filter(({ value }) => value.startsWith(begun)) }
}

function definitionOf({ value: qualifiedKey, hint, schema }: DefinitionOffer): readonly CompletedDefinition[] {
  const slash = qualifiedKey.indexOf('/')
  const scope = parseScope(qualifiedKey.slice(0, slash))
  if (scope === undefined) return []
  const localKey = qualifiedKey.slice(slash + 1)
  const values = valuesOf(schema)
  const described = { ...(hint !== '' && { description: hint }), ...(values && { values }) }
  return [{ id: '', scope, localKey, qualifiedKey, type: schema.type, inherit: false, ...described }]
}

function valuesOf({ type, enum: listed, const: only }: ValueSchema): readonly LabelValue[] | undefined {
  if (listed !== undefined) return listed
  if (only !== undefined) return [only]
  return type === 'boolean' ? [true, false] : undefined
}

/** Keys first; their values once a key is complete. */
function pairs(definition: CompletedDefinition, isKeyComplete: boolean): readonly Offer[] {
  if (!isKeyComplete) return [keyOffer(definition, '=')]
  const { value: key } = keyOffer(definition, '=')
  return (definition.values ?? []).map((value) => ({ value: `${key}${String(value)}`, hint: 'value' }))
}

/** A key of the platform is written with its scope, so that it is not taken for one of the Domain. */
function keyOffer({ scope, localKey, qualifiedKey, type, description }: CompletedDefinition, end: string): Offer {
  const key = scope.kind === 'platform' ? qualifiedKey : localKey
  return { value: `${key}${end}`, hint: description ?? type }
}
