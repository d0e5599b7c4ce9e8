import type { labels } from '../../../shared/contract/labels.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { rowsOfList } from '../clouds/reading.ts'
import { rowsOf } from '../../output/members.ts'
import { scopeOfKey, typedKey } from './keys.ts'
import type { LabelledObject } from './objects.ts'

type Operations = (typeof labels)['operations']

/** A label Definition as the API answers it. */
export type Definition = Result<Operations['GetLabelDefinition']>
/** A label of an object as the API answers it. */
export type Label = Result<Operations['ListObjectLabels']>['items'][number]

/** Reads the Definitions of a scope that the caller may see, and on request those of the scopes around it. */
export async function readDefinitions(
  session: Session,
  scope: string,
  isEnclosing: boolean,
): Promise<readonly Definition[]> {
  const input = { scope, ...(isEnclosing && { include: 'enclosing' }) }
  const found: Definition[] = []
  for await (const one of rowsOfList<Definition>(session, 'ListLabelDefinitions', input)) found.push(one)
  return found
}

/** Reads the labels that an object has of its own. */
export async function readLabels(session: Session, { kind, id }: LabelledObject): Promise<readonly Label[]> {
  const { value } = await (await session.caller()).call(session.operation('ListObjectLabels'), { kind, id })
  return (rowsOf(value) ?? []) as readonly Label[] // What the contract says of 200.
}

const NEARNESS = ['project', 'domain', 'platform']

/** The Definition that a bare key means among those of one scope and the scopes around it. */
export function nearestOf(definitions: readonly Definition[], localKey: string): Definition | undefined {
  const distance = ({ scope }: Definition): number => NEARNESS.indexOf(scope.split(':')[0] ?? '')
  const named = definitions.filter(({ local_key: key }) => key === localKey)
  return named.toSorted((one, other) => distance(one) - distance(other))[0]
}

/**
 * Finds a Definition by its id, or by its key in the scope that the key names, else in the Domain in which the command works.
 * Throws not found with the nearest key.
 */
export async function namedDefinition(session: Session, text: string): Promise<Definition> {
  if (isNonZeroUuid(text)) {
    const { value } = await (await session.caller()).call(session.operation('GetLabelDefinition'), { id: text })
    return value as Definition // What the contract says of 200.
  }
  const key = typedKey(text)
  const definitions = await readDefinitions(session, await scopeOfKey(session, key), false)
  return nearestOf(definitions, key.localKey) ?? refuseUnknown(text, key.localKey, definitions)
}

/** Throws not found, with the key that was probably meant. */
export function refuseUnknown(text: string, localKey: string, definitions: readonly Definition[]): never {
  throw new CliError(`there is no label "${text}", or you may not see it`, {
    exitCode: EXIT.notFound,
    code: 'definition_not_found',
    mistyped: {
      word: localKey,
      known: definitions.map(({ local_key: key }) => key),
      otherwise: 'See which there are: ctl labels definitions',
    },
  })
}
