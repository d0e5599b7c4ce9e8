import { createProgress } from '../../../output/progress.ts'
import type { Session } from '../../../session/session.ts'
import type { Move, Plan } from './plan.ts'
import { ended, promoteOne, type Promotion } from './promotion.ts'

/** `completed`: every Cloud of the plan was tried; `declined`: the person did not go on after a batch. */
export type EndReason = 'completed' | 'declined' | 'interrupted' | 'failed'

export interface UpgradeEnd {
  readonly reason: EndReason
  /** One for each Cloud of the plan, in its order. */
  readonly promotions: readonly Promotion[]
}

export interface BatchRules {
  readonly batchSize: number
  /** Asks between batches. */
  readonly isPausing: boolean
}

/** Moves the Clouds of a plan one after the other, and says after each batch what moved. */
export async function promoteInBatches(session: Session, plan: Plan, rules: BatchRules): Promise<UpgradeEnd> {
  const batches = batchesOf(plan.moves, rules.batchSize)
  const done: Promotion[] = []
  let reason: EndReason = 'completed'
  for (const [index, batch] of batches.entries()) {
    if (index > 0 && rules.isPausing) reason = await mayGoOn(session, batch)
    if (reason !== 'completed') break
    const tried = await promoteBatch(session, plan, batch)
    done.push(...tried.promotions)
    if (batches.length > 1) noteBatch(session, `Batch ${index + 1} of ${batches.length}`, tried.promotions)
    ;({ reason } = tried)
  }
  return { reason, promotions: [...done, ...plan.moves.slice(done.length).map((move) => ended(move, 'not_done'))] }
}

function batchesOf(moves: readonly Move[], size: number): readonly (readonly Move[])[] {
  const count = Math.ceil(moves.length / size)
  return Array.from({ length: count }, (_, index) => moves.slice(index * size, (index + 1) * size))
}

/** Moves the Clouds of a batch, until one fails as all would, or Ctrl-C. */
async function promoteBatch(session: Session, { bundle }: Plan, batch: readonly Move[]): Promise<UpgradeEnd> {
  const { interrupted } = session.io
  const promotions: Promotion[] = []
  const progress = createProgress(session, 'Clouds moved', batch.length)
  for (const move of batch) {
    if (interrupted.aborted) break
    promotions.push(await promoteOne(session, bundle, move))
    progress.at(promotions.length)
    if (promotions.at(-1)?.error !== undefined) break
  }
  progress.end()
  const isWhole = promotions.length === batch.length && promotions.every(({ outcome }) => outcome !== 'not_done')
  const isFailed = promotions.some(({ error }) => error !== undefined)
  return { reason: isFailed ? 'failed' : isWhole ? 'completed' : 'interrupted', promotions }
}

function noteBatch(session: Session, title: string, batch: readonly Promotion[]): void {
  const texts = batch.map(({ move: { slug, from, to }, outcome }) =>
    outcome === 'promoted' ? `${slug} ${from} -> ${to}` : `${slug} ${outcome.replace('_', ' ')}`,
  )
  if (texts.length > 0) session.note(`${title}: ${texts.join(', ')}.`)
}

/** Asks whether to go on with the next batch. */
async function mayGoOn(session: Session, batch: readonly Move[]): Promise<EndReason> {
  if (session.io.interrupted.aborted) return 'interrupted'
  const names = batch.map(({ slug }) => slug).join(', ')
  const answer = await (await session.io.prompter()).confirm(`Go on with ${names}?`)
  if (answer === undefined) return 'interrupted'
  return answer ? 'completed' : 'declined'
}
