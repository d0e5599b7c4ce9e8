import type { Page } from '../../../client/pages.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { PAGE_MAX } from '../../derive/lists.ts'
import { isRow, rowsOf, type Row } from '../../output/members.ts'
import { isText } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { routedToDomain } from './domain-route.ts'
import { DOMAIN_FLAG, ofDomain } from './in-domain.ts'

const DESCRIPTION =
  'A terminal also shows the names of Domain and subject, and the other nodes whose violation of the same artifact is not resolved.'

/** Nodes named in one line; the others are counted. */
const NAMED_MAX = 5

/** The derived command, which says on a terminal where else the artifact is altered. */
export function show(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetIntegrityViolation')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: DESCRIPTION,
    flags: { ...derived.flags, ...DOMAIN_FLAG },
    examples: ['ctl violations show 7b21d4', 'ctl violations show 7b21d4 -o json'],
    async run(session, given) {
      const { perform } = await import('../../derive/perform.ts')
      const { domain } = await session.settings()
      const plan = { operation: domain.value === undefined ? operation : ofDomain(manifest, operation) }
      await perform(await explainedForPeople(routedToDomain(session), manifest), plan, given)
    },
  }
}

/** The session, with names and the other nodes in what a person reads of one violation. */
async function explainedForPeople(session: Session, manifest: Manifest): Promise<Session> {
  const { output } = await session.settings()
  const isForPeople = session.io.stdout.isTty && output.value === 'table' && (await isText(session))
  if (!isForPeople) return session
  const lists = operationOf(manifest, 'ListIntegrityViolations')
  return {
    ...session,
    style: session.style,
    talkStyle: session.talkStyle,
    canAsk: session.canAsk,
    async emit(value, view) {
      if (rowsOf(value) !== undefined || !isRow(value)) return session.emit(value, view)
      await session.emit(await explained(session, lists, value), view)
    },
  }
}

async function explained(session: Session, lists: ManifestOperation, violation: Row): Promise<Row> {
  const [{ namesOf }, { createResolver }] = await Promise.all([
    import('../authz/naming.ts'),
    import('../../session/references.ts'),
  ])
  const domain = `domain:${String(violation['domain_id'])}`
  const by = violation['acknowledged_by_subject']
  const names = await namesOf(createResolver(session), [domain, ...(typeof by === 'string' ? [by] : [])])
  return {
    ...violation,
    domain: names.shown(domain).slice('domain:'.length),
    ...(typeof by === 'string' && { acknowledged_by: names.shown(by) }),
    also_on: await otherNodes(session, lists, violation),
  }
}

/** Which other nodes have an unresolved violation of the artifact; at most a page of them is counted. */
async function otherNodes(session: Session, lists: ManifestOperation, violation: Row): Promise<string> {
  const { artifact_id, domain_id, node_id } = violation
  const caller = await session.caller()
  const input = { domain_id, artifact_id, limit: String(PAGE_MAX) }
  const { value } = await caller.call(lists, input)
  const page = value as Page<Row> // What the contract says of 200.
  const others = new Map<unknown, string>()
  for (const row of page.items) {
    const isOther = row['node_id'] !== node_id && row['status'] !== 'resolved'
    if (isOther) others.set(row['node_id'], String(row['node_name'] ?? row['node_id']))
  }
  return sentenceOf([...others.values()], page.next_cursor !== null && page.next_cursor !== undefined)
}

function sentenceOf(names: readonly string[], hasMore: boolean): string {
  if (names.length === 0) return hasMore ? 'older violations only, as far as was read' : 'no other node'
  const rest = names.length - NAMED_MAX
  const shown = names.slice(0, NAMED_MAX).join(', ')
  const count = `${names.length}${hasMore ? ' or more' : ''} ${names.length === 1 ? 'node' : 'nodes'}`
  return `${count}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`
}
