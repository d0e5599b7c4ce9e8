import { createEmbeddedAuthorizer } from '../../adapters/embedded-authz/authorizer.ts'
import { createChangeFeed } from '../../adapters/postgres/change-feed.ts'
import { readExpired, readKeys } from '../../adapters/signing-keys/key-store.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { VerificationKey } from '../../ports/signer.ts'
import { verifyChain, type VerificationDeps } from '../../slices/audit/verification.ts'
import type { Check, Fault, Looked } from './checks.ts'
import {
  countAudit,
  countTuplesAhead,
  isEventHeadSound,
  readChainDomains,
  readCursors,
  readLanes,
  readOutboxNumbers,
  readSequencesBehind,
} from './consistency-store.ts'

const ANOTHER = 'use another backup'

/** The checks of a migrated scratch datastore that need no key. */
export function datastoreChecks(datastore: Datastore): readonly Check[] {
  return [
    { name: 'sequences', run: () => checkSequences(datastore) },
    { name: 'audit chains', run: () => checkChains(datastore) },
    { name: 'relation tuples', run: () => checkTuples(datastore) },
    { name: 'outbox', run: () => checkOutbox(datastore) },
    { name: 'event sequence', run: () => checkEvents(datastore) },
  ]
}

async function checkSequences(datastore: Datastore): Promise<Looked> {
  const { count, behind } = await readSequencesBehind(datastore.pool('bulk'))
  const faults = behind.map(({ subject }) => `The sequence of ${subject} is behind its rows: ${ANOTHER}.`)
  return { count, what: 'sequences', faults }
}

/** The code of `ctl audit verify`, over every chain from its first kept row. */
async function checkChains(datastore: Datastore): Promise<Looked> {
  const db = datastore.pool('bulk')
  const keys = await publishedKeys(datastore)
  const deps: VerificationDeps = { db, signer: { keys: () => keys, expired: async () => [] } }
  const { rows, sealed, waiting } = await countAudit(db)
  const faults: Fault[] = []
  if (rows !== sealed + waiting)
    faults.push(`Of ${rows} audit rows ${sealed} are sealed and ${waiting} wait for their seal: ${ANOTHER}.`)
  let count = 0
  for (const domainId of await readChainDomains(db)) {
    const walked = await walkChain(deps, domainId)
    count += walked.rows
    if (walked.fault !== undefined) faults.push(walked.fault)
  }
  return { count, what: 'sealed rows', faults }
}

interface Walked {
  readonly rows: number
  readonly fault: Fault | undefined
}

async function walkChain(deps: VerificationDeps, domainId: string | null): Promise<Walked> {
  let rows = 0
  for (let fromSeq: number | undefined; ;) {
    const part = await verifyChain(deps, { domainId, fromSeq })
    rows += part.rows
    if (part.first_bad !== null) {
      const { seq, reason } = part.first_bad
      return { rows, fault: `The chain ${part.chain} is broken at row ${seq} (${reason}): ${ANOTHER}.` }
    }
    if (part.next_seq === null) return { rows, fault: undefined }
    fromSeq = part.next_seq
  }
}

async function publishedKeys(datastore: Datastore): Promise<readonly VerificationKey[]> {
  const db = datastore.pool('bulk')
  const now = new Date()
  const kept = await readKeys(db, now)
  const publicHalves = [...kept.map((key) => key.public), ...(await readExpired(db, now))]
  return publicHalves.map((key) => ({ ...key, state: 'current' }))
}

/** The comparison of `ctl authz reconcile`, with an index that is built from the tuples alone. */
async function checkTuples(datastore: Datastore): Promise<Looked> {
  // A scratch datastore has no operator: what matters is in the numbers.
  const warn = (): void => undefined
  const changeFeed = createChangeFeed({ datastore, warn })
  const authorizer = createEmbeddedAuthorizer({ datastore, changeFeed, warn })
  try {
    await changeFeed.start()
    const { checked, unresolved } = await authorizer.reconciler.reconcile()
    return {
      count: checked,
      what: 'tuples',
      faults: await tupleFaults(datastore, unresolved, authorizer.stats().unknownTuples),
    }
  } finally {
    changeFeed.stop()
  }
}

async function tupleFaults(datastore: Datastore, unresolved: number, unknown: number): Promise<readonly Fault[]> {
  const ahead = await countTuplesAhead(datastore.pool('bulk'))
  return [
    ...(unresolved > 0
      ? [`${unresolved} relation tuples differ from the index that is built of them: ${ANOTHER}.`]
      : []),
    ...(unknown > 0
      ? [
          `${unknown} relation tuples have a type or relation that this version does not know, and grant nothing: use the version of the backup.`,
        ]
      : []),
    ...(ahead > 0 ? [`${ahead} relation tuples have a revision that was not given out yet: ${ANOTHER}.`] : []),
  ]
}

async function checkOutbox(datastore: Datastore): Promise<Looked> {
  const db = datastore.pool('bulk')
  const { first, last, head, processed, unprocessed } = await readOutboxNumbers(db)
  const faults: Fault[] = []
  if (processed <= head && head - processed !== unprocessed)
    faults.push(
      `The outbox has ${unprocessed} rows after number ${processed}, and numbers were given up to ${head}: ${ANOTHER}.`,
    )
  if (last !== undefined && last > head) faults.push(`The outbox ends at ${last}, and its head is ${head}: ${ANOTHER}.`)
  const cursors = await readCursors(db)
  const lowest = first === undefined ? head : first - 1n
  for (const { name, seq } of cursors)
    if (seq < lowest || seq > head)
      faults.push(`The consumer ${name} is at ${seq}, outside of the outbox (${lowest} to ${head}): ${ANOTHER}.`)
  return { count: cursors.length, what: 'cursors', faults }
}

async function checkEvents(datastore: Datastore): Promise<Looked> {
  const db = datastore.pool('bulk')
  const { count, broken } = await readLanes(db)
  const faults = broken.map(({ subject, found }) => `The events of ${subject} have ${found}: ${ANOTHER}.`)
  if (!(await isEventHeadSound(db))) faults.push(`The head of the event log is behind its events: ${ANOTHER}.`)
  return { count, what: 'lanes', faults }
}
