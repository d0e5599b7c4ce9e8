import { APPROVAL_ACTIONS, PLATFORM_ACTIONS } from '../../../shared/approval-actions.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { nearest } from '../../../shared/nearest.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { shortDuration } from '../../argv/duration.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { View } from '../../output/emit.ts'
import { isRow, memberOf, type Row } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

const PLATFORM: FlagSpecs = {
  platform: {
    kind: 'switch',
    describe: 'The policy of the platform, which holds everywhere, instead of that of a Domain',
  },
}

const CHANGES: FlagSpecs = {
  require: {
    kind: 'many',
    value: 'ACTION=N',
    describe: 'Have N people approve an action, 1 to 5, and keep the rest of the policy',
  },
  release: { kind: 'many', value: 'ACTION', describe: 'Name an action no more' },
  ttl: { kind: 'duration', value: 'DURATION', describe: 'How long a request waits for its decision, 1h to 30d' },
}

/** Shows what waits for approval in a Domain, or everywhere. */
export function showPolicy(manifest: Manifest): Command {
  const derived = derivedCommand(operationOf(manifest, 'GetDomainApprovalPolicy'), manifest)
  return {
    ...derived,
    flags: { ...derived.flags, ...PLATFORM },
    examples: ['ctl approvals policy show', 'ctl approvals policy show --platform -o json'],
    async run(session, { flags }) {
      const place = await placeOf(session, flags)
      await shown(session, await read(session, place))
    },
  }
}

/** Changes single members of the policy: the operation takes the whole. */
export function setPolicy(manifest: Manifest): Command {
  const derived = derivedCommand(operationOf(manifest, 'PutDomainApprovalPolicy'), manifest)
  const { actions: _actions, 'ttl-seconds': _ttl, 'from-file': _file, ...flags } = derived.flags ?? {}
  return {
    ...derived,
    description: [
      derived.description,
      'Reads the policy and writes the whole of it back: a change by somebody else in between is lost.',
    ].join('\n'),
    flags: { ...flags, ...PLATFORM, ...CHANGES },
    examples: [
      'ctl approvals policy set --require domain.delete=1 --require credentials.lend=2',
      'ctl approvals policy set --platform --require signing-keys.rotate=1 --ttl 3d',
      'ctl approvals policy set --release domain.delete',
    ],
    async run(session, { flags: given }) {
      const change = changeOf(given)
      assertNameable([...change.required.keys()], given)
      const place = await placeOf(session, given)
      const { assertAnswerable, confirmChange } = await import('../../derive/confirm.ts')
      await assertAnswerable(session, place.put)
      await session.assertEmittable({ view: await viewOfPolicy(session), isList: true })
      await confirmChange(session, place.put, [{ input: place.input, labels: {}, object: undefined }])
      const body = changed(await read(session, place), change)
      const { value } = await (await session.caller()).call(place.put, { ...place.input, body })
      await shown(session, value)
    },
  }
}

/** The operations of one policy, and what names its place. */
interface Place {
  readonly get: ManifestOperation
  readonly put: ManifestOperation
  readonly input: Readonly<Record<string, string>>
}

async function placeOf(session: Session, flags: Given['flags']): Promise<Place> {
  const operations = (of: string) => ({
    get: session.operation(`Get${of}ApprovalPolicy`),
    put: session.operation(`Put${of}ApprovalPolicy`),
  })
  if (flags['platform'] === true) {
    if (flags['domain'] !== undefined) throw usageError('give either --platform or --domain')
    return { ...operations('Platform'), input: {} }
  }
  const domain = await createResolver(session).fallback('domains', {})
  if (domain === undefined) throw usageError('--domain is missing', 'Add --domain, or --platform')
  return { ...operations('Domain'), input: { id: domain.id } }
}

async function read(session: Session, { get, input }: Place): Promise<unknown> {
  return (await (await session.caller()).call(get, input)).value
}

async function shown(session: Session, policy: unknown): Promise<void> {
  await session.emit(policy, await viewOfPolicy(session))
  const ttl = memberOf(policy, 'effective_ttl_seconds')
  if (typeof ttl === 'number') session.note(`A request waits for ${shortDuration(ttl)}.`)
}

/** A table of what holds for each action, whichever policy it is. */
async function viewOfPolicy(session: Session): Promise<View> {
  const { viewOf } = await import('../../derive/perform.ts')
  return { ...viewOf(session.operation('GetDomainApprovalPolicy')), isWhole: false }
}

interface PolicyChange {
  readonly required: ReadonlyMap<string, number>
  readonly released: readonly string[]
  readonly ttl: number | undefined
}

/** @throws CliError where nothing is to be changed, or an action is named twice. */
function changeOf(flags: Given['flags']): PolicyChange {
  const pairs = wordsOf(flags['require']).map(requirementOf)
  const released = wordsOf(flags['release'])
  const ttl = typeof flags['ttl'] === 'number' ? flags['ttl'] : undefined
  if (pairs.length + released.length === 0 && ttl === undefined)
    throw usageError('nothing to change', 'Add --require ACTION=N, --release ACTION or --ttl DURATION')
  const named = [...pairs.map(([action]) => action), ...released]
  const twice = named.find((action, at) => named.indexOf(action) !== at)
  if (twice !== undefined) throw usageError(`${twice} is named twice`)
  return { required: new Map(pairs), released, ttl }
}

function requirementOf(text: string): readonly [action: string, people: number] {
  const [, action, people] = /^([a-z][a-z.-]*)=([1-5])$/.exec(text) ?? []
  if (action === undefined) throw usageError(`--require needs ACTION=N with N from 1 to 5, not "${text}"`)
  return [action, Number(people)]
}

/**
 * A newer server may have actions that this ctl does not know: one that is near to no known action is left to the server.
 *
 * @throws CliError for an action that only the policy of the platform may name, and for a mistyped one.
 */
function assertNameable(actions: readonly string[], { platform }: Given['flags']): void {
  const known: readonly string[] = APPROVAL_ACTIONS
  for (const action of actions) {
    if (platform !== true && PLATFORM_ACTIONS.some((each) => each === action))
      throw usageError(
        `${action} concerns the whole installation: the policy of a Domain cannot name it`,
        'Add --platform, which changes the policy of the platform',
      )
    const near = known.includes(action) ? undefined : nearest(action, known)
    if (near !== undefined) throw usageError(`there is no action "${action}"`, `Did you mean ${near}?`)
  }
}

function wordsOf(value: Given['flags'][string]): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** The policy with the change in it. */
function changed(policy: unknown, { required, released, ttl }: PolicyChange): Row {
  const own = memberOf(policy, 'actions')
  const actions = new Map(Object.entries(isRow(own) ? own : {}))
  for (const action of released) {
    if (!actions.delete(action)) throw usageError(`the policy does not name ${action}`)
  }
  for (const [action, people] of required) actions.set(action, { required_approvals: people })
  const seconds = ttl ?? memberOf(policy, 'ttl_seconds')
  return { actions: Object.fromEntries(actions), ...(seconds !== undefined && { ttl_seconds: seconds }) }
}
