import { SERVICE_RELATIONS } from '../../shared/contract/audit-relations.ts'
import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { mistypedError } from '../cli-error.ts'
import type { Given } from '../command.ts'
import type { FlagSpec } from '../flags.ts'
import { flagsBut } from './chain-command.ts'

const WRITES: FlagSpec = { kind: 'switch', describe: 'Only rows of operations that change something' }

const RELATION: FlagSpec = {
  kind: 'text',
  describe: 'What was asked for, e.g. auth.api_token.issue; all that begin so with a dot at the end: node.',
}

/** The flags that choose audit rows. Members of the query that stand behind others of them are none of their own. */
export function rowFlags(
  operation: ManifestOperation,
  manifest: Manifest,
  own: readonly string[] = [],
): Readonly<Record<string, FlagSpec>> {
  const flags = flagsBut(operation, manifest, ['relation-prefix', 'only', ...own])
  return { ...flags, relation: RELATION, writes: WRITES }
}

/**
 * What was typed, in the words of the query: `node.` and `node.*` are the beginning of a relation. A relation that no row can
 * have is a mistake: the server, which takes any text there, would answer with an empty list.
 *
 * @throws CliError for such a relation, with the nearest one.
 */
export function rowFilter(manifest: Manifest, given: Given): Given {
  const { writes, relation, ...flags } = given.flags
  return {
    ...given,
    flags: {
      ...flags,
      ...(writes === true && { only: 'writes' }),
      ...(typeof relation === 'string' && relationFilter(manifest, relation)),
    },
  }
}

function relationFilter({ operations }: Manifest, typed: string): Readonly<Record<string, string>> {
  const known = [...Object.values(operations).flatMap(({ audit }) => audit ?? []), ...SERVICE_RELATIONS]
  const prefix = /^(?:(.*\.)\*?|(.*)\*)$/.exec(typed)
  const begins = prefix?.[1] ?? prefix?.[2]
  if (begins === undefined ? known.includes(typed) : known.some((relation) => relation.startsWith(begins)))
    return begins === undefined ? { relation: typed } : { 'relation-prefix': begins }
  throw mistypedError(`there is no audit relation "${typed}"`, {
    word: begins ?? typed,
    known: begins === undefined ? known : known.map(groupOf),
    otherwise: `Groups of relations are ${[...new Set(known.map(groupOf))].toSorted().join(', ')}.`,
  })
}

/** `node.` of `node.list`; a relation without parts is its own. */
function groupOf(relation: string): string {
  return relation.slice(0, relation.indexOf('.') + 1) || relation
}
