import { requestOf } from '../../../client/client.ts'
import { followStream, type FollowOptions, type Frame } from '../../../client/event-stream.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { DomainFrameFault, DomainFrameVerifier } from '../../../shared/events/domain-verifier.ts'
import { isMembers } from '../../../shared/shapes.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Row } from '../../output/members.ts'
import { createRowStream, streamFormat } from '../../output/row-stream.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { flagsBut, inputOf } from '../audit/chain-command.ts'
import { cutSentence } from './cut-sentence.ts'
import { FAULT_SENTENCES } from './faults.ts'
import { jsonRow } from './rows.ts'
import { sinceOf } from './since.ts'

const FLAGS = {
  since: { kind: 'text', value: 'ID', describe: 'Begin after the event with this id' },
  verify: { kind: 'switch', describe: 'Check every signature; exit 10 when one is wrong' },
} as const satisfies FlagSpecs

/** A command that is typed by a person gives up soon. */
const TRIES_MAX = 3

/** Shows the events of a Domain as they come, until Ctrl-C. */
export function tail(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetDomainEvents')
  return {
    description: [
      'Shows what changes in a Domain as it happens, until Ctrl-C: what happened, and to which object.',
      'Begins with what comes from now on, or after --since. A connection that is lost is made again, and nothing is left out.',
      'One JSON line per event with -o json or jsonl, and where the output is no terminal.',
    ].join('\n'),
    flags: { ...flagsBut(operation, manifest, []), ...FLAGS },
    uses: ['connection', 'output'],
    examples: ['ctl events tail', 'ctl events tail --domain web --verify', 'ctl events tail --since 184467 -o jsonl'],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const since = sinceOf(given)
  const input = await inputOf(session, operation, given)
  const verify = given.flags['verify'] === true ? await openVerifier(session, String(input['domain_id'])) : undefined
  const { last, faults } = await follow({ session, operation, input, since, verify })
  session.note(`Stopped.${last === undefined ? '' : ` Go on after it with --since ${last}.`}`)
  return faults > 0 ? EXIT.negative : EXIT.interrupted
}

interface Following {
  readonly session: Session
  readonly operation: ManifestOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly since: string | undefined
  readonly verify: DomainFrameVerifier | undefined
}

/** Resolves, once it is interrupted, with the last event that was taken and the number of those that were not. */
async function follow(following: Following): Promise<{ last: string | undefined; faults: number }> {
  const { session, since, verify } = following
  const print = await printer(session)
  let last = since
  let faults = 0
  await followStream(
    {
      connect: await connecting(following),
      signal: session.io.interrupted,
      lastEventId: since,
      triesMax: TRIES_MAX,
    },
    {
      async frame(frame) {
        const fault = await faultOf(frame, verify)
        if (fault === undefined) last = frame.id ?? last
        else {
          faults += 1
          session.warn(`event ${frame.id ?? 'without an id'} ${FAULT_SENTENCES[fault]} (${fault})`)
        }
        await print(frame, verify && (fault ?? 'ok'))
        return fault === undefined
      },
      cut: (cut) => session.warn(cutSentence(cut, last)),
    },
  )
  return { last, faults }
}

async function connecting({ session, operation, input }: Following): Promise<FollowOptions['connect']> {
  const caller = await session.caller()
  const request = requestOf(operation, input)
  return (headers, signal) => caller.open({ ...request, headers }, { operation, signal })
}

async function faultOf(frame: Frame, verify: DomainFrameVerifier | undefined): Promise<DomainFrameFault | undefined> {
  const verification = await verify?.(frame)
  return verification === undefined || verification.ok ? undefined : verification.fault
}

async function openVerifier(session: Session, domainId: string): Promise<DomainFrameVerifier> {
  const [{ createPublishedKeys }, { createDomainFrameVerifier }, { createSignatureVerifier }, caller] =
    await Promise.all([
      import('../../../client/published-keys.ts'),
      import('../../../shared/events/domain-verifier.ts'),
      import('../../../client/verify-signature.ts'),
      session.caller(),
    ])
  const findKey = createPublishedKeys({ caller, manifest: session.manifest() })
  return createDomainFrameVerifier({ findKey, verify: createSignatureVerifier(), domainId })
}

const COLUMNS = ['id', 'at', 'type', 'object', 'more'] as const

type Print = (frame: Frame, verdict: string | undefined) => Promise<void>

async function printer(session: Session): Promise<Print> {
  const asked = await streamFormat(session)
  const format = asked === 'json' ? 'jsonl' : asked
  const isTable = (format === 'table' || format === 'wide') && session.shared.jq === undefined
  const stream = createRowStream(session, format)
  return (frame, verdict) => {
    const found = verdict === undefined ? {} : { verdict }
    const columns = verdict === undefined ? COLUMNS : [...COLUMNS, 'verdict']
    return stream.print([isTable ? tableRow(frame, found) : jsonRow(frame, found)], { columns })
  }
}

/** The time of day: "3s ago" would be wrong a moment later. What the event says is taken at its word. */
function tableRow({ id, event, data }: Frame, found: { readonly verdict?: string }): Row {
  const value: unknown = parsed(data)
  const envelope = isMembers(value) ? value : {}
  const { object, ...more } = isMembers(envelope['payload']) ? envelope['payload'] : {}
  const at = textOf(envelope['occurred_at']).slice(11, 19)
  return { id, at, type: event, object, more: moreText(more), ...found }
}

function moreText({ from, to, ...ids }: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(ids).map(([name, value]) => `${name} ${textOf(value)}`)
  return [...(from === undefined ? [] : [`${textOf(from)} to ${textOf(to)}`]), ...parts].join(', ')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
