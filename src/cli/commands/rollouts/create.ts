import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import { SELECTOR, SELECTORS, selectorText } from '../../argv/selector.ts'
import type { FlagSpecs, FlagValue } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform, rowMembers } from '../../derive/perform.ts'
import { bodyFromFile } from '../../derive/values.ts'
import { usageError } from '../../errors/cli-error.ts'
import { asSelectorError } from '../../errors/selector-errors.ts'
import type { Row } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { wavesFrom } from './wave-text.ts'
import { windowFrom } from './window-text.ts'

const FLAGS = {
  version: {
    kind: 'text',
    value: 'VERSION',
    describe: 'Release that the nodes get: verified, and not withdrawn; required without -f',
  },
  selector: {
    kind: 'many',
    short: 'l',
    value: 'SELECTOR',
    noun: SELECTORS,
    describe: "Nodes to upgrade, by their labels, e.g. 'env=staging'; they are fixed when the rollout starts",
  },
  all: { kind: 'switch', describe: "All nodes of the Domain, as -l '*' says" },
  waves: {
    kind: 'list',
    value: 'WAVES',
    describe:
      'Waves in order: a share of all nodes, cumulative (25%), or group:NAME for the nodes whose label update-group has that value',
    fallback: '100%',
  },
  window: {
    kind: 'text',
    value: 'WINDOW',
    describe: "When nodes may begin, e.g. 'Mon-Fri 09:00-16:00 Europe/Berlin'; none for at any time",
    fallback: 'none',
  },
} as const satisfies FlagSpecs

/** Plans a rollout out of flags, or out of a file. */
export function create(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'CreateRollout')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'Upgrades nothing before it is started. Waves are upgraded one after the other; the canaries come before the first of them, alone.',
      'An upgraded node is done when it reports the version and has been healthy for --soak. More failures than --max-failures halt the rollout: nothing more begins.',
      'A window names weekdays, from and to, and a time zone. Outside of it nothing begins; what has begun goes on.',
    ].join('\n'),
    args: (derived.args ?? []).map((one) => ({ ...one, required: false })),
    flags: { ...withFallbacks(derived.flags), ...FLAGS },
    examples: [
      "ctl rollouts create r1 --version 1.5.0 -l env=staging --waves 5%,25%,100% --canaries 2 --soak 10m --max-failures 1 --window 'Mon-Fri 09:00-16:00 Europe/Berlin'",
      'ctl rollouts create r2 --version 1.5.0 --all --waves group:blue,group:green',
      'ctl rollouts show r1 -o yaml | ctl rollouts create r3 -f -',
    ],
    async run(session, given) {
      const body = { ...(await fromFile(session, operation, given)), ...(await typed(session, given)) }
      assertNodes(body)
      if (body['version'] === undefined)
        throw usageError('--version is missing', 'Add --version VERSION; see which there are: ctl artifacts list')
      return perform(session, { operation, body }, { args: given.args, flags: othersOf(given) }).catch(
        (error: unknown) => {
          throw asSelectorError(error, String(body['selector']))
        },
      )
    },
  }
}

/** What the API takes where a flag is absent. */
const FALLBACKS: Readonly<Record<string, string>> = {
  canaries: '0',
  'max-in-flight': '50',
  soak: '0s',
  'max-failures': '0',
}

function withFallbacks(flags: FlagSpecs = {}): FlagSpecs {
  const described = Object.entries(flags).map(([name, spec]) => {
    const fallback = FALLBACKS[name]
    return [name, fallback === undefined ? spec : { ...spec, fallback }] as const
  })
  return Object.fromEntries(described)
}

/** What a file says of the plan. What only an answer has is left out, so that a rollout can be copied. */
async function fromFile(session: Session, operation: ManifestOperation, { flags }: Given): Promise<Row> {
  const path = flags['from-file']
  if (typeof path !== 'string') return {}
  const row = await bodyFromFile(path, { io: session.io, isSecret: false })
  const taken = new Set(operation.body?.fields.map(({ name }) => name))
  const answered = new Set(rowMembers(operation))
  return Object.fromEntries(Object.entries(row).filter(([name]) => taken.has(name) || !answered.has(name)))
}

/** Members that are typed in a form of their own. */
async function typed(session: Session, { flags }: Given): Promise<Row> {
  const { waves, window, version, all, [SELECTOR]: selector } = flags
  if (all === true && selector !== undefined) throw usageError('--all and -l exclude each other')
  return {
    ...(typeof version === 'string' && { version }),
    ...(waves !== undefined && { waves: wavesFrom(textsOf(waves), '--waves') }),
    ...(typeof window === 'string' && { window: windowFrom(window, '--window') }),
    ...(all === true && { selector: '*' }),
    ...(selector !== undefined && { selector: await selectorText(selector, createResolver(session)) }),
  }
}

function textsOf(value: FlagValue): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

/** A rollout to all nodes is said, never what is left when a flag was forgotten. */
function assertNodes({ selector }: Row): void {
  if (selector !== undefined) return
  throw usageError(
    'no nodes are chosen',
    'Choose some by their labels, e.g. -l env=staging',
    "Choose all nodes of the Domain with --all, or -l '*'",
  )
}

/** Flags that the operation reads. */
function othersOf({ flags }: Given): Given['flags'] {
  const read = new Set(['from-file', 'version', 'waves', 'window', 'all', SELECTOR])
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !read.has(name)))
}
