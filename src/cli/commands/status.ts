import { ProblemAnswer } from '../../client/failures.ts'
import { rows, type Page } from '../../client/pages.ts'
import type { CallInput } from '../../client/client.ts'
import { asTyped } from '../errors/npx-command-hints.ts'
import { defineCommand } from '../argv/command.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../errors/exit-code.ts'
import { relative } from '../output/cells.ts'
import { isRow, memberOf, rowsOf, type Row } from '../output/members.ts'
import { isScreen } from '../output/screen.ts'
import { paintWord } from '../output/table.ts'
import { serverState, type ServerState } from '../session/server-state.ts'
import { askWhoami, type Session } from '../session/session.ts'
import { harmless } from '../output/style.ts'

/** Nodes that are counted; beyond that the counts are said to be partial. */
const NODES_MAX = 10_000

/** Reachability states in the order of the bar, each with its paint. */
const STATES = [
  ['healthy', 'good'],
  ['stale', 'warn'],
  ['unreachable', 'bad'],
  ['never_reported', 'dim'],
] as const
const BAR_CELLS = 40

interface Fleet {
  readonly total: number
  readonly isPartial: boolean
  readonly byReachability: Readonly<Record<string, number>>
}

/** A killed `ctl serve --dev` cannot make the former context current again. */
const ENDED_DEV = 'the server of this context, a "ctl serve --dev", does not answer. Go back: ctl contexts previous'

interface Picture {
  readonly context: string | undefined
  readonly url: string
  readonly server: ServerState
  /** The context is of a `ctl serve --dev` that does not answer. */
  readonly isEndedDev: boolean
  readonly me: Row | undefined
  /** Why the server would not say more. */
  readonly refusal: ProblemAnswer | undefined
  readonly fleet: Fleet | undefined
  /** Why the fleet is not shown although the caller is known. */
  readonly fleetRefusal: ProblemAnswer | undefined
  /** Approvals that wait for the caller's decision; undefined where the server does not say. */
  readonly toDecide: ToDecide | undefined
}

export const status = defineCommand({
  uses: ['connection', 'output', 'watch'],
  examples: ['ctl status', 'ctl status --watch=5s', "ctl status --jq '.nodes.by_reachability'"],
  async run(session) {
    const picture = await take(session)
    if ((await isScreen(session)) && (session.shared.watch === undefined || session.io.stdout.isTty))
      session.io.stdout.write(screen(picture, session))
    else await session.emit(asData(picture), { columns: [] })
    return exitCode(picture)
  },
})

/** All calls share one deadline: together they take no longer than --timeout says. */
async function take(session: Session): Promise<Picture> {
  const { context, url, timeoutSeconds } = await session.settings()
  const endMs = session.io.nowMs() + timeoutSeconds.value * 1000
  const deadline: Deadline = { leftMs: () => Math.max(1, endMs - session.io.nowMs()) }
  const server = await serverState(session)
  const { [context.value ?? '']: stored } = (await session.contexts.read()).contexts
  const picture = {
    isEndedDev: server.status === 'unreachable' && stored?.dev === true,
    context: context.value,
    url: url.value,
    server,
    me: undefined,
    refusal: undefined,
    fleet: undefined,
    fleetRefusal: undefined,
    toDecide: undefined,
  }
  if (server.status === 'unreachable') return picture
  const me = await orRefusal(() => askWhoami(session, { timeoutMs: deadline.leftMs() }))
  if (me instanceof ProblemAnswer) return { ...picture, refusal: me }
  const fleet = await orRefusal(() => countFleet(session, deadline))
  const waiting = await orRefusal(() => countToDecide(session, String(me['subject']), deadline))
  const known = { ...picture, me, toDecide: waiting instanceof ProblemAnswer ? undefined : waiting }
  return fleet instanceof ProblemAnswer ? { ...known, fleetRefusal: fleet } : { ...known, fleet }
}

async function orRefusal<T>(ask: () => Promise<T>): Promise<T | ProblemAnswer> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ProblemAnswer) return error
    throw error
  }
}

interface Deadline {
  readonly leftMs: () => number
}

async function countFleet(session: Session, { leftMs }: Deadline): Promise<Fleet> {
  const caller = await session.caller()
  const list = async (input: CallInput): Promise<Page<unknown>> =>
    (await caller.call(session.operation('ListNodes'), input, { timeoutMs: leftMs() })).value as Page<unknown>
  const counts: Record<string, number> = {}
  let total = 0
  for await (const row of rows(list, { limit: '200' })) {
    if (total >= NODES_MAX) return { total, isPartial: true, byReachability: counts }
    const state = String(memberOf(row, 'reachability'))
    counts[state] = (counts[state] ?? 0) + 1
    total += 1
  }
  return { total, isPartial: false, byReachability: counts }
}

/** How many approvals wait for somebody; at least so many where there are more than one page shows. */
interface ToDecide {
  readonly total: number
  readonly isPartial: boolean
}

/** Counts on one page: a person decides on few, and nobody else decides. What one has approved already waits for others. */
async function countToDecide(session: Session, subject: string, { leftMs }: Deadline): Promise<ToDecide | undefined> {
  if (!subject.startsWith('user:')) return undefined
  const input = { role: 'decider', state: 'pending-approval', limit: '200' }
  const caller = await session.caller()
  const { value } = await caller.call(session.operation('ListApprovals'), input, { timeoutMs: leftMs() })
  const isDecided = (row: Row): boolean => {
    const decisions = memberOf(row, 'decisions')
    return Array.isArray(decisions) && decisions.some((one) => memberOf(one, 'subject') === subject)
  }
  const waiting = (rowsOf(value) ?? []).filter((row) => isRow(row) && !isDecided(row))
  return { total: waiting.length, isPartial: typeof memberOf(value, 'next_cursor') === 'string' }
}

/** A token that may not list nodes is no failure: the screen says what it may. */
function exitCode({ server, refusal, fleetRefusal }: Picture): ExitCode {
  if (server.status === 'unreachable' || server.status === 'unhealthy') return EXIT.unavailable
  const failure = refusal ?? (fleetRefusal?.status === 403 ? undefined : fleetRefusal)
  return failure === undefined ? EXIT.ok : exitCodeOf(failure.status)
}

function asData({ context, url, server, me, refusal, fleet, fleetRefusal, toDecide }: Picture): Row {
  const failure = refusal ?? fleetRefusal
  return {
    context: context ?? null,
    url,
    server: { status: server.status, latency_ms: server.latencyMs, unwell: server.unwell },
    identity: me ?? null,
    ...(failure && { refusal: { code: failure.code, status: failure.status } }),
    nodes:
      fleet === undefined
        ? null
        : { total: fleet.total, partial: fleet.isPartial, by_reachability: fleet.byReachability },
    approvals: toDecide === undefined ? null : { to_decide: toDecide.total, partial: toDecide.isPartial },
  }
}

function screen(picture: Picture, session: Session): string {
  const { style } = session
  const lines = [
    ['Server', serverText(picture, session)],
    ...unwellLines(picture, session).map((text) => ['', text]),
    ['Context', picture.context ?? asTyped('none; "ctl login" makes one', session.io)],
    ...(picture.isEndedDev ? [['', asTyped(ENDED_DEV, session.io)]] : []),
    ['You', identityText(picture, session)],
    ...scopeLines(picture).map((text) => ['May', text]),
    ...fleetLines(picture, session).map((text, index) => [index === 0 ? 'Nodes' : '', text]),
    ...waitingLines(picture, session).map((text) => ['Waiting', text]),
  ]
  return lines.map(([title = '', text = '']) => `${style.bold(title.padEnd(9))}${text}\n`).join('')
}

/** Each dependency that is away: what is wrong, since when, and what that means. */
function unwellLines({ server }: Picture, { style, io }: Session): readonly string[] {
  return Object.entries(server.unwell).flatMap(([name, { detail, since, meanwhile }]) => {
    const from = since === undefined ? '' : `, since ${since} (${relative(since, io.nowMs())})`
    const what = style.warn(harmless(`${name}: ${detail}${from}`))
    return meanwhile === undefined ? [what] : [what, style.dim(harmless(meanwhile))]
  })
}

function serverText({ url, server }: Picture, { style }: Session): string {
  const { status: said, latencyMs, failure } = server
  const paint = said === 'ready' ? 'good' : said === 'degraded' ? 'warn' : 'bad'
  const rest = failure === undefined ? `in ${Math.round(latencyMs)} ms` : failure
  return `${url}  ${style[paint](said)}  ${style.dim(harmless(rest))}`
}

function identityText({ me, refusal, server }: Picture, session: Session): string {
  if (server.status === 'unreachable') return '-'
  if (me === undefined)
    return session.style.warn(
      refusal?.status === 401 ? asTyped('not signed in; ctl login', session.io) : (refusal?.detail ?? '-'),
    )
  const expires = memberOf(me, 'credential.expires_at')
  const until = typeof expires === 'string' ? `, credential expires ${relative(expires, session.io.nowMs())}` : ''
  return harmless(`${String(me['display_name'])} (${String(me['subject'])})${until}`)
}

/** What the credential may; nothing where nobody is known. */
function scopeLines({ me }: Picture): readonly string[] {
  const scopes = memberOf(me, 'credential.scopes')
  if (!Array.isArray(scopes)) return []
  return [scopes.includes('*') ? 'everything that your roles allow' : harmless(scopes.join(', '))]
}

function fleetLines({ fleet, fleetRefusal }: Picture, { style, io }: Session): readonly string[] {
  if (fleetRefusal?.document['reason'] === 'out_of_scope')
    return [style.dim('not shown: the scopes of this token do not cover nodes:read')]
  if (fleet === undefined) return [harmless(fleetRefusal?.detail ?? '-')]
  if (fleet.total === 0) return [asTyped('none yet; ctl join-tokens create makes a token that nodes join with', io)]
  const parts = STATES.flatMap(([state]) => {
    const count = fleet.byReachability[state] ?? 0
    return count === 0 ? [] : [`${count} ${paintWord(state, style)}`]
  })
  return [`${fleet.total}${fleet.isPartial ? '+' : ''}: ${parts.join(', ')}`, bar(fleet, style)]
}

/** What waits for the caller; nothing where nothing does. */
function waitingLines({ toDecide }: Picture, { style, io }: Session): readonly string[] {
  if (toDecide === undefined || toDecide.total === 0) return []
  const { total, isPartial } = toDecide
  const what = `${total}${isPartial ? '+' : ''} ${total === 1 ? 'approval' : 'approvals'} for your decision`
  return [`${style.warn(what)}; ${asTyped('ctl approvals list --to-decide', io)}`]
}

/** One cell per fortieth of the fleet; a state that occurs at all gets at least one. */
function bar({ total, byReachability }: Fleet, style: Session['style']): string {
  const cells = STATES.map(([state, paint]) => {
    const count = byReachability[state] ?? 0
    const width = count === 0 ? 0 : Math.max(1, Math.round((count / total) * BAR_CELLS))
    return style[paint](
      (state === 'never_reported' ? '░' : state === 'unreachable' ? '▒' : state === 'stale' ? '▓' : '█').repeat(width),
    )
  })
  return cells.join('')
}
