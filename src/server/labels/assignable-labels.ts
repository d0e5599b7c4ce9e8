import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import { definitionReference } from './definition.ts'
import { governedDefinitions } from './node-labels.ts'

/** Asks about the caller of a request. */
interface Asker {
  holds(relation: string, object: string): Promise<boolean>
  /** @throws PermissionDenied */
  require(relation: string, object: string): Promise<void>
}

/**
 * The Definitions that labels of nodes name by these keys, each of which the caller may assign. Those that were made for
 * labels of nodes need no more than the node or join token does.
 *
 * @throws PermissionDenied for one that the caller may only read; Problem `definition_not_found` for one that the caller may
 *   not even see.
 */
export async function assignableLabels(
  asker: Asker,
  db: Db,
  { domainId, keys }: { readonly domainId: string; readonly keys: readonly string[] },
): Promise<ReadonlySet<string>> {
  const definitions = await governedDefinitions(db, domainId, keys)
  for (const id of definitions) await requireAssign(asker, definitionReference(id))
  return new Set(definitions)
}

async function requireAssign(asker: Asker, definition: string): Promise<void> {
  if (await asker.holds('assign', definition)) return
  if (!(await asker.holds('read', definition))) throw problem('definition_not_found')
  await asker.require('assign', definition)
}
