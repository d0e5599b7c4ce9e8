import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { CAPACITY_DIMENSIONS, DIMENSION_FACTS, type CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { bodyFromFile } from '../../derive/values.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Row } from '../../output/members.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { withCaller } from '../../session/step-up.ts'
import type { CapacityTargets } from './answers.ts'
import { quantityText } from './quantity.ts'
import { DEFAULT, targetFrom } from './target-text.ts'

/** Sets targets of a Domain and says what they were before. */
export function setTargets(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'SetCapacityTargets')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'Targets that are not named stay as they are. For the platform: it needs manage there.',
      `A target is a whole number, for bytes also a size such as 5MiB; ${DEFAULT} restores the default, and 0 is no target.`,
    ].join('\n'),
    flags: { ...derived.flags, ...Object.fromEntries(CAPACITY_DIMENSIONS.map((one) => [wordOf(one), flagOf(one)])) },
    examples: [
      'ctl capacity targets set default --nodes 20000 --observability-ingest 8MiB',
      `ctl capacity targets set default --nodes ${DEFAULT}`,
      'ctl capacity targets set default --sse-fanout 0',
    ],
    async run(session, given) {
      const body = { ...(await fromFile(session, given)), ...typedTargets(given) }
      if (Object.keys(body).length === 0)
        throw usageError('there is nothing to change', `Give at least one of ${WORDS.join(', ')}`)
      const changes: Change[] = []
      const recorded = recordingChanges(session, changes)
      const code = await perform(recorded, { operation, body }, { args: given.args, flags: othersOf(given) })
      const isNamed = changes.length === given.args.length
      for (const [at, change] of changes.entries())
        session.note(`Domain ${harmless((isNamed ? given.args[at] : undefined) ?? change.id)}: ${changeText(change)}`)
      return code
    },
  }
}

const WORDS = CAPACITY_DIMENSIONS.map((one) => `--${wordOf(one)}`)

function wordOf(dimension: CapacityDimension): string {
  return dimension.replaceAll('_', '-')
}

const DESCRIPTIONS: Readonly<Record<CapacityDimension, string>> = {
  nodes: 'Nodes',
  sse_fanout: 'Events a second to all streams',
  secret_reads: 'Secrets read by nodes a second',
  mediated_sessions: 'Live mediated sessions',
  observability_ingest: 'Bytes of reports a second, such as 5MiB; beyond it reports are refused',
  action_executions: 'Open executions; beyond it new ones are refused',
}

function flagOf(dimension: CapacityDimension): FlagSpec {
  const { unit, defaultTarget } = DIMENSION_FACTS[dimension]
  return {
    kind: 'text',
    value: unit === 'bytes/sec' ? 'SIZE' : 'N',
    describe: `${DESCRIPTIONS[dimension]} (${DEFAULT}: ${quantityText(defaultTarget, unit)})`,
  }
}

async function fromFile(session: Session, { flags }: Given): Promise<Row> {
  const path = flags['from-file']
  return typeof path === 'string' ? bodyFromFile(path, { io: session.io, isSecret: false }) : {}
}

function typedTargets({ flags }: Given): Row {
  const typed = CAPACITY_DIMENSIONS.flatMap((dimension) => {
    const text = flags[wordOf(dimension)]
    return typeof text === 'string' ? [[dimension, targetFrom(text, `--${wordOf(dimension)}`, dimension)] as const] : []
  })
  return Object.fromEntries(typed)
}

/** Flags that the operation reads. */
function othersOf({ flags }: Given): Given['flags'] {
  const read = new Set(['from-file', ...CAPACITY_DIMENSIONS.map(wordOf)])
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !read.has(name)))
}

/** What a call changed. */
interface Change {
  readonly id: string
  readonly named: readonly string[]
  readonly targets: CapacityTargets['targets']
}

/** The session, with changes of targets that record what they changed. */
function recordingChanges(session: Session, changes: Change[]): Session {
  return withCaller(session, (caller) => ({
    ...caller,
    async call(operation, input, options) {
      const reply = await caller.call(operation, input, options)
      if (operation.id !== 'SetCapacityTargets') return reply
      const { domain_id: id, targets } = reply.value as CapacityTargets // What the contract says of 200.
      changes.push({ id, named: Object.keys(input['body'] as Row), targets })
      return reply
    },
  }))
}

/** `nodes 10,000 → 20,000; sse_fanout stays 1,000, the default` */
function changeText({ named, targets }: Change): string {
  return harmless(
    targets
      .filter(({ dimension }) => named.includes(dimension))
      .map(oneText)
      .join('; '),
  )
}

function oneText({ dimension, target, former_target: former, is_default: isDefault }: Change['targets'][number]) {
  const { unit } = DIMENSION_FACTS[dimension]
  const text = (amount: number): string => (amount === 0 ? 'no target' : quantityText(amount, unit))
  const now = `${text(target)}${isDefault ? ', the default' : ''}`
  return former === target ? `${dimension} stays ${now}` : `${dimension} ${text(former)} → ${now}`
}
