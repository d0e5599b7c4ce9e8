import { SERVICE_RELATIONS } from '../../../shared/contract/audit-relations.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { nearest } from '../../../shared/nearest.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import type { Session } from '../../session/session.ts'
import { flagsBut } from './chain-command.ts'

const WRITES: FlagSpec = { kind: 'switch', describe: 'Only rows of operations that change something' }

const ACTOR: FlagSpec = {
  kind: 'text',
  describe: 'Who acted: user, service, node or system; or one of them: user:NAME, service:NAME, node:NAME, or me',
}

const RELATION: FlagSpec = {
  kind: 'text',
  describe:
    'What was asked for, e.g. auth.api_token.issue. `node.` (with the dot) means every relation that begins with `node.`',
}

/** How people write references, where the contract says what they mean. */
const NAMED: Readonly<Record<string, string>> = {
  subject: 'Who acted: user:NAME, service:NAME, node:NAME, or me',
  object: 'What it was asked on: platform, domain:NAME, project:NAME, node:NAME, …',
}

/** The flags that choose audit rows. `relation_prefix` and `only` have no flags: `--relation` and `--writes` set them. */
export function rowFlags(
  operation: ManifestOperation,
  manifest: Manifest,
  own: readonly string[] = [],
): Readonly<Record<string, FlagSpec>> {
  const flags = flagsBut(operation, manifest, ['relation-prefix', 'only', ...own])
  const named = Object.entries(flags).map(([name, spec]) => [name, { ...spec, describe: NAMED[name] ?? spec.describe }])
  return { ...Object.fromEntries(named), relation: RELATION, writes: WRITES, actor: ACTOR }
}

/**
 * The query of what was typed: `node.` and `node.*` are the beginning of a relation, and an actor is a kind or one subject. The server takes any text as a relation, and
 * answers with an empty list for one that it does not have. A newer server may have relations that this ctl does not know.
 *
 * @throws CliError for an unknown relation that is near to a known one, an unknown kind of actor, and two subjects.
 */
export function rowFilter(session: Session, given: Given): Given {
  const { writes, relation, actor, ...flags } = given.flags
  return {
    ...given,
    flags: {
      ...flags,
      ...(writes === true && { only: 'writes' }),
      ...(typeof actor === 'string' && actorFilter(actor, flags)),
      ...(typeof relation === 'string' && relationFilter(session, relation)),
    },
  }
}

const ACTORS: readonly string[] = ['user', 'service', 'node', 'system']

function actorFilter(actor: string, { subject }: Given['flags']): Readonly<Record<string, string>> {
  if (ACTORS.includes(actor)) return { actor }
  if (actor !== 'me' && !actor.includes(':'))
    throw usageError(`--actor takes ${ACTORS.join(', ')}, or one subject; not "${actor}"`, `Try --actor user:${actor}.`)
  if (subject !== undefined) throw usageError('--actor with a name and --subject are the same; give one of them')
  return { subject: actor }
}

function relationFilter(session: Session, typed: string): Readonly<Record<string, string>> {
  const { operations } = session.manifest()
  const ofService = SERVICE_RELATIONS.map((row) => row.relation)
  const known = [...Object.values(operations).flatMap(({ audit }) => audit ?? []), ...ofService]
  const prefix = /^(?:(.*\.)\*?|(.*)\*)$/.exec(typed)
  const begins = prefix?.[1] ?? prefix?.[2]
  const isKnown = begins === undefined ? known.includes(typed) : known.some((one) => one.startsWith(begins))
  if (!isKnown) {
    const groups = [...new Set(known.flatMap(groupsOf))]
    const whole = groups.find((group) => group === `${typed}.`)
    const near = whole ?? (begins === undefined ? nearest(typed, known) : nearest(begins, groups))
    if (near !== undefined) throw usageError(`there is no audit relation "${typed}"`, `Did you mean ${near}?`)
    session.warn(`this ctl does not know the audit relation "${typed}"; a newer server may have it`)
  }
  return begins === undefined ? { relation: typed } : { 'relation-prefix': begins }
}

/** `node.` of `node.list`; a relation without a dot is in no group. */
function groupsOf(relation: string): readonly string[] {
  const dot = relation.indexOf('.')
  return dot < 0 ? [] : [relation.slice(0, dot + 1)]
}
