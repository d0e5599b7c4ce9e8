import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { parentEdge, placeOf } from '../../labels/define.ts'
import { definitionReference, type DefinitionRecord } from '../../labels/definition.ts'
import * as store from './store.ts'

/** Definitions of one pass. */
const PASS_MAX = 100
/** Nothing but a migration adds such Definitions, and that is done when the server starts. */
const EVERY_MS = 60 * 60_000

/** Everybody who is signed in may put system labels on what they maintain, until an administrator takes that back. */
const EVERYBODY = ['user:*', 'serviceaccount:*'] as const

/** The job that writes the tuples of Definitions that a migration made: it cannot write tuples itself. */
export function createGrantDefinitions({
  datastore,
  ids,
}: {
  readonly datastore: Datastore
  readonly ids: IdSource
}): LeaderJob {
  return {
    name: 'label-definition-tuples',
    everyMs: EVERY_MS,
    async run(leading) {
      const found = await store.notGranted(datastore.pool('worker'), PASS_MAX)
      if (found.length > 0) await grant(leading, found, ids.next())
      return found.length === PASS_MAX
    },
  }
}

/** The tuples are written once: those that somebody deletes later stay deleted. */
function grant(
  { unitOfWork }: Leading,
  definitions: readonly DefinitionRecord[],
  correlationId: string,
): Promise<void> {
  return unitOfWork.run({ pool: 'worker', correlationId }, async ({ db, tuples }) => {
    for (const definition of definitions) {
      if (!(await store.markGranted(db, definition.id))) continue
      await tuples.restoreStructural(parentEdge(definition), placeOf(definition))
      if (!definition.system) continue
      for (const subject of EVERYBODY) {
        const resource = definitionReference(definition.id)
        await tuples.create({ subject, relation: 'assigner', resource }, placeOf(definition))
      }
    }
  })
}
