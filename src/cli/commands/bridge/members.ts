import { isNonZeroUuid } from '../../../shared/ids.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { nodeScope, type ProjectPlace } from './place.ts'
import { referenceOf, secretFrom } from './secret-text.ts'

/** Members that the server adds. A file may be what `show -o yaml` printed. */
const ADDED: ReadonlySet<string> = new Set(['resource_id', 'created_at', 'updated_at'])

/** The members of a part of a bridge that a person sets. */
export function ownMembers(part: Row): Row {
  return Object.fromEntries(Object.entries(part).filter(([member]) => !ADDED.has(member)))
}

/** The configuration of a part, as an update takes it: the slug never changes. */
export function configurationOf(part: Row): Row {
  const { slug: _never, ...members } = ownMembers(part)
  return members
}

/**
 * The members as the API takes them: a node that is named becomes its id, and a secret that is named a whole reference. Throws a
 * usage error for a secret that cannot be read, and what a look-up throws.
 */
export async function asApiMembers(session: Session, members: Row, place: ProjectPlace): Promise<Row> {
  const { target_node_id: node, auth_secret_ref: secret, acme_account_ref: acme } = members
  return {
    ...members,
    ...(isName(node) && { target_node_id: (await place.resolver.object('nodes', node, nodeScope(place))).id }),
    ...(typeof secret === 'string' && { auth_secret_ref: await whole(session, [secret, '--secret'], place) }),
    ...(isSecret(acme) && { acme_account_ref: await whole(session, [acme, '--acme'], place) }),
  }
}

function isName(node: unknown): node is string {
  return typeof node === 'string' && !isNonZeroUuid(node)
}

/** An ACME account is an https URL, or a secret. */
function isSecret(acme: unknown): acme is string {
  return typeof acme === 'string' && acme.startsWith('secret:')
}

function whole(session: Session, [text, flag]: readonly [string, string], place: ProjectPlace): Promise<string> {
  return referenceOf(session, secretFrom(text, flag), place)
}

/** The parts of a bridge in a file, as the API takes them. */
export async function asApiParts(session: Session, parts: Row, place: ProjectPlace): Promise<Row> {
  const entries: [string, unknown][] = []
  for (const [name, value] of Object.entries(parts)) entries.push([name, await asApiPart(session, value, place)])
  return Object.fromEntries(entries)
}

async function asApiPart(session: Session, value: unknown, place: ProjectPlace): Promise<unknown> {
  if (isRow(value)) return asApiMembers(session, ownMembers(value), place)
  if (!Array.isArray(value)) return value
  const read: unknown[] = []
  for (const one of value) read.push(await asApiPart(session, one, place))
  return read
}
