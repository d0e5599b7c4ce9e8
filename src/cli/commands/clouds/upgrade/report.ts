import { EXIT, type ExitCode } from '../../../errors/exit-code.ts'
import { counted, namedSome } from '../../../output/counts.ts'
import type { View } from '../../../output/emit.ts'
import { tableLines } from '../../../output/table.ts'
import type { Session } from '../../../session/session.ts'
import type { Plan } from './plan.ts'
import type { Outcome, Promotion } from './promotion.ts'
import type { UpgradeEnd } from './run.ts'

const PLAN_COLUMNS = ['slug', 'from', 'to', 'cloud_id']
const PLAN_VIEW: View = { columns: PLAN_COLUMNS, members: PLAN_COLUMNS, rows: 'clouds' }
const COLUMNS = ['slug', 'from', 'to', 'outcome', 'code', 'cloud_id']
const VIEW: View = { columns: COLUMNS, members: COLUMNS, rows: 'clouds', isChecked: true }

/** Throws where flags say how the report is to look and it could not look so. */
export function assertReportable(session: Session): Promise<void> {
  return session.assertEmittable({ view: VIEW, isList: true })
}

/** Prints a plan that is not carried out, in the chosen format. Answers 10 where Clouds are behind. */
export async function emitPlan(session: Session, { bundle, to, moves, stay }: Plan): Promise<ExitCode> {
  await session.emit({ clouds: moves }, PLAN_VIEW)
  if (moves.length === 0) {
    session.note(`No Cloud of ${bundle.slug} is behind version ${to}; nothing was changed.`)
    return EXIT.ok
  }
  const others = stay === 0 ? '' : ` ${counted(stay, 'other')} at that version or a newer one.`
  session.note(`Would move ${counted(moves.length, 'Cloud')} to version ${to} of ${bundle.slug}.${others}`)
  session.note('Nothing was changed.')
  return EXIT.negative
}

/** Shows the plan on stderr, where the question follows. */
export function showPlan({ io, talkStyle }: Session, { moves }: Plan): void {
  const lines = tableLines(moves, {
    columns: PLAN_COLUMNS,
    headers: true,
    nowMs: io.nowMs(),
    style: talkStyle,
    terminal: io.stderr.columns,
    isWide: false,
  })
  io.stderr.write(`${lines.join('\n')}\n`)
}

/** Prints what became of each Cloud, and says what is left and how to go on. Throws the failure that stopped the run. */
export async function report(session: Session, plan: Plan, { reason, promotions }: UpgradeEnd): Promise<ExitCode> {
  const clouds = promotions.map(({ move, outcome, code }) => ({ ...move, outcome, code: code ?? null }))
  await session.emit({ clouds }, VIEW)
  sayOutcomes(session, plan, promotions)
  const isBehind = promotions.some(({ outcome }) => outcome !== 'promoted')
  if (isBehind) session.note(`Go on with: ctl clouds upgrade --bundle ${plan.bundle.slug} --to ${plan.to}`)
  const error = promotions.find((promotion) => promotion.error !== undefined)?.error
  if (error !== undefined) throw error
  if (reason === 'interrupted') return EXIT.interrupted
  return isBehind ? EXIT.negative : EXIT.ok
}

function sayOutcomes(session: Session, { to, bundle }: Plan, promotions: readonly Promotion[]): void {
  const named = (wanted: Outcome): readonly string[] =>
    promotions.filter(({ outcome }) => outcome === wanted).map(({ move }) => move.slug)
  const [moved, meanwhile, failed] = [named('promoted'), named('moved_meanwhile'), named('failed')]
  session.note(`Moved ${moved.length} of ${counted(promotions.length, 'Cloud')} to version ${to} of ${bundle.slug}.`)
  if (meanwhile.length > 0) session.warn(`changed by somebody else meanwhile, and left alone: ${namedSome(meanwhile)}`)
  if (failed.length > 0) session.warn(`refused: ${namedSome(failed)}`)
  const [unknown, left] = [named('unknown'), named('not_done')]
  if (unknown.length > 0) session.warn(`no answer came, so check it: ctl clouds show ${unknown.join(' ')}`)
  if (left.length > 0) session.note(`Not done: ${namedSome(left)}.`)
}
