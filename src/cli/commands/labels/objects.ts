import { LABEL_KINDS, type LabelKind } from '../../../shared/labels/label-kinds.ts'
import { parseReference } from '../../../shared/ids.ts'
import { mistypedError, usageError } from '../../errors/cli-error.ts'
import type { ArgumentSpec } from '../../argv/flags.ts'
import { memberOf } from '../../output/members.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

/** The object whose labels a command is about. */
export const OBJECT: ArgumentSpec = {
  name: 'object',
  describe: 'KIND:NAME or KIND:ID, e.g. node:web-1',
  noun: 'objects',
  required: true,
}

/** An object that may have labels. */
export interface LabelledObject {
  readonly kind: LabelKind
  readonly id: string
  /** As it was typed. */
  readonly text: string
}

/** Other ways to write a kind. */
const ALIASES: Readonly<Record<string, LabelKind>> = {
  service: 'serviceaccount',
  bundle: 'provider_bundle',
  'cloud-credential': 'cloudcredential',
}

/** Finds an object by `KIND:NAME`. Throws a usage error for another text or kind, and what a look-up throws. */
export async function objectNamed(session: Session, text: string): Promise<LabelledObject> {
  const { type = '', id: name = '' } = parseReference(text) ?? {}
  if (name === '')
    throw usageError(`"${text}" names no object`, 'Write its kind in front, such as node:web-1 or project:web.')
  const kind = kindNamed(type)
  const reference = await createResolver(session).resource(`${kind}:${name}`, {})
  return { kind, id: reference.slice(kind.length + 1), text }
}

function kindNamed(type: string): LabelKind {
  const kind = ALIASES[type] ?? LABEL_KINDS.find((one) => one === type)
  if (kind !== undefined) return kind
  throw mistypedError(`objects of kind "${type}" cannot have labels`, {
    word: type,
    known: [...LABEL_KINDS, ...Object.keys(ALIASES)],
    otherwise: `Kinds are ${LABEL_KINDS.join(', ')}.`,
  })
}

const OF_PLATFORM: ReadonlySet<LabelKind> = new Set(['cloud', 'cloudcredential', 'provider_bundle'])
const OF_PROJECT: ReadonlySet<LabelKind> = new Set(['resource', 'network', 'workload'])

/** The innermost scope whose labels an object may have, as the API takes it. */
export async function scopeOfObject(session: Session, { kind, id }: LabelledObject): Promise<string> {
  if (kind === 'domain' || kind === 'project') return `${kind}:${id}`
  if (OF_PLATFORM.has(kind)) return 'platform'
  if (kind === 'node') return scopeOfNode(session, id)
  const resolver = createResolver(session)
  return (OF_PROJECT.has(kind) ? await chosenScope(resolver, 'projects') : undefined) ?? domainOf(resolver)
}

async function scopeOfNode(session: Session, id: string): Promise<string> {
  const { value } = await (await session.caller()).call(session.operation('GetNode'), { id })
  const project = memberOf(value, 'project_id')
  return typeof project === 'string' ? `project:${project}` : `domain:${String(memberOf(value, 'domain_id'))}`
}

async function chosenScope(resolver: Resolver, noun: 'domains' | 'projects'): Promise<string | undefined> {
  const found = await resolver.fallback(noun, {})
  return found && `${noun === 'domains' ? 'domain' : 'project'}:${found.id}`
}

async function domainOf(resolver: Resolver): Promise<string> {
  return (await chosenScope(resolver, 'domains')) ?? 'platform'
}
