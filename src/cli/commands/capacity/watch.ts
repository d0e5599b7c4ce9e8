import { defineCommand } from '../../argv/command.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isPassing } from '../../errors/passing.ts'
import { fittedFrame } from '../../output/frame.ts'
import { createInPlace } from '../../output/in-place.ts'
import { isScreen, isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import {
  OPTIONAL_DOMAINS,
  placesOf,
  readSamples,
  reportUnread,
  type Places,
  type Sampled,
  type Samples,
} from './reading.ts'
import { screenOf } from './show.ts'

/** Between two looks: at least that, whatever a server says of its interval, and at most. */
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000
/** A sample is there a little after it was due. */
const DELAY_MS = 500

/** Follows the samples of Domains until Ctrl-C. */
export const watch = defineCommand({
  description: [
    'Without DOMAIN: the Domain of the context, else every Domain that you may read.',
    'On a terminal the gauges, redrawn in place with each sample; elsewhere, and with -o jsonl, a line of JSON for each sample of a Domain.',
    'Goes on while the server is away. Ctrl-C ends it, with exit code 130.',
  ].join('\n'),
  args: OPTIONAL_DOMAINS,
  uses: ['connection', 'output'],
  examples: ['ctl capacity watch', 'ctl capacity watch default', "ctl capacity watch -o jsonl --jq '.sampled_at'"],
  async run(session, { args }) {
    const display = await displayOf(session)
    const places = await placesOf(session, args)
    if (places.places.length === 0) {
      session.note('There is no Domain that you may read.')
      return EXIT.ok
    }
    return follow(session, places, display)
  },
})

/** Shows looks as they come. */
interface Display {
  show(sampled: readonly Sampled[]): Promise<void>
  /** The server could not be asked since the last look. */
  away(reason: string): void
}

/** Looks whenever the next sample is due. */
async function follow(session: Session, places: Places, display: Display): Promise<ExitCode> {
  const { io } = session
  let last: readonly Sampled[] | undefined
  let isAway = false
  while (!io.interrupted.aborted) {
    const found = await look(session, places)
    if (found instanceof Error) {
      if (last === undefined) throw found
      if (!isAway) display.away(found.message)
    } else if (found !== undefined) {
      if (last === undefined) await reportUnread(session, found, 'capacity watch')
      last = found.sampled
      await display.show(found.sampled)
    }
    isAway = found instanceof Error
    await io.sleep(pauseMs(last ?? [], io.nowMs()))
  }
  return EXIT.interrupted
}

/** The samples as they are; why they could not be read where that may pass; undefined after Ctrl-C. */
async function look(session: Session, places: Places): Promise<Samples | Error | undefined> {
  try {
    return await readSamples(session, places)
  } catch (error) {
    if (session.io.interrupted.aborted) return undefined
    if (isPassing(error)) return error
    throw error
  }
}

/** Until the first of the next samples is due. The clocks may differ, and a sample may be late. */
function pauseMs(sampled: readonly Sampled[], nowMs: number): number {
  const pauses = sampled.map(({ capacity: { sampled_at: at, interval_seconds: interval } }) => {
    const dueMs = Date.parse(at) + interval * 1000 + DELAY_MS
    return Math.min(Math.max(dueMs - nowMs, (interval * 1000) / 5), interval * 1000 + DELAY_MS)
  })
  return Math.max(PAUSE_MS_MIN, Math.min(PAUSE_MS_MAX, ...pauses))
}

async function displayOf(session: Session): Promise<Display> {
  await session.assertEmittable({ view: { columns: [] }, isList: false })
  if (!(await isText(session))) return asData(session)
  if (!(await isScreen(session)))
    throw usageError('gauges that are watched are no table', 'Choose members with -o jsonl --jq EXPR.')
  return session.io.stdout.isTty ? onTerminal(session) : asData(session)
}

function onTerminal(session: Session): Display {
  const { stdout } = session.io
  const picture = createInPlace(stdout)
  let shown = ''
  const draw = (text: string): void => picture.draw(fittedFrame(text, stdout).replace(/\n$/, '').split('\n'))
  return {
    async show(sampled) {
      shown = screenOf(session, sampled)
      draw(shown)
    },
    away: (reason) => draw(`${session.style.warn(awayText(reason))}\n${shown}`),
  }
}

/** A line for each sample that was not shown yet. */
function asData(session: Session): Display {
  const shown = new Map<string, string>()
  return {
    async show(sampled) {
      const { emit } = await import('../../output/emit.ts')
      const { io, shared, style } = session
      const { output } = await session.settings()
      const format = output.value === 'yaml' ? 'yaml' : 'jsonl'
      for (const { capacity } of sampled) {
        if (shown.get(capacity.domain_id) === capacity.sampled_at) continue
        shown.set(capacity.domain_id, capacity.sampled_at)
        await emit(capacity, { columns: [] }, { io, format, shared, style, note: (line) => session.note(line) })
      }
    },
    away: (reason) => session.warn(awayText(reason)),
  }
}

function awayText(reason: string): string {
  return `the server could not be asked (${harmless(reason)}); trying on`
}
