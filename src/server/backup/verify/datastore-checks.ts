import type { BackupProof, ChainPart, VerifiedPart } from '../../ports/backup-proof.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Check, Fault, Looked } from './checks.ts'
import {
  countAudit,
  countTuplesAhead,
  countTuplesOfNothing,
  isEventHeadSound,
  readChainDomains,
  readCursors,
  readLanes,
  readOutboxNumbers,
  readSequencesBehind,
} from './consistency-store.ts'

const ANOTHER = 'use another backup'

type Proof = Pick<BackupProof, 'chainVerifier' | 'compareTuples'>

/** The checks of a migrated scratch datastore that need no key. */
export function datastoreChecks(datastore: Datastore, proof: Proof): readonly Check[] {
  return [
    { name: 'sequences', run: () => checkSequences(datastore) },
    { name: 'audit chains', run: () => checkChains(datastore, proof) },
    { name: 'relation tuples', run: () => checkTuples(datastore, proof) },
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
async function checkChains(datastore: Datastore, proof: Proof): Promise<Looked> {
  const db = datastore.pool('bulk')
  const verify = await proof.chainVerifier(datastore)
  const { rows, sealed, waiting } = await countAudit(db)
  const faults: Fault[] = []
  if (rows !== sealed + waiting)
    faults.push(`Of ${rows} audit rows ${sealed} are sealed and ${waiting} wait for their seal: ${ANOTHER}.`)
  let count = 0
  for (const domainId of await readChainDomains(db)) {
    const walked = await walkChain(verify, domainId)
    count += walked.rows
    if (walked.fault !== undefined) faults.push(walked.fault)
  }
  return { count, what: 'sealed rows', faults }
}

interface Walked {
  readonly rows: number
  readonly fault: Fault | undefined
}

async function walkChain(verify: (part: ChainPart) => Promise<VerifiedPart>, domainId: string | null): Promise<Walked> {
  let rows = 0
  for (let fromSeq: number | undefined; ;) {
    const part = await verify({ domainId, fromSeq })
    rows += part.rows
    if (part.first_bad !== null) {
      const { seq, reason } = part.first_bad
      return { rows, fault: `The chain ${part.chain} is broken at row ${seq} (${reason}): ${ANOTHER}.` }
    }
    if (part.next_seq === null) return { rows, fault: undefined }
    fromSeq = part.next_seq
  }
}

async function checkTuples(datastore: Datastore, proof: Proof): Promise<Looked> {
  const { checked, unresolved, unknown } = await proof.compareTuples(datastore)
  const db = datastore.pool('bulk')
  const ofNothing = await countTuplesOfNothing(db)
  const ahead = await countTuplesAhead(db)
  const faults = [
    ...(unresolved > 0
      ? [`${unresolved} relation tuples differ from the index that is built of them: ${ANOTHER}.`]
      : []),
    ...(unknown > 0
      ? [
          `${unknown} relation tuples have a type or relation that this version does not know, and grant nothing: use the version of the backup.`,
        ]
      : []),
    ...(ahead > 0 ? [`${ahead} relation tuples have a revision that was not given out yet: ${ANOTHER}.`] : []),
    ...ofNothing.map(({ type, count }) => `${count} relation tuples are on a ${type} that does not exist: ${ANOTHER}.`),
  ]
  return { count: checked, what: 'tuples', faults }
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

/** Events themselves are in no backup: what is checked is where they go on. */
async function checkEvents(datastore: Datastore): Promise<Looked> {
  const db = datastore.pool('bulk')
  const { count, ahead } = await readLanes(db)
  const faults = ahead.map((id) => `The events of node:${id} go on ahead of the outbox: ${ANOTHER}.`)
  if (!(await isEventHeadSound(db))) faults.push(`The marks of the event log are above its head: ${ANOTHER}.`)
  return { count, what: 'lanes', faults }
}
