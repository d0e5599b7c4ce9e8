/** What a node is, by S0 States and nothing else. Instants in ms. */
export interface Reach {
  readonly isGone: boolean
  readonly isCutOff: boolean
  /** How often it was enrolled again. */
  readonly key: number
  readonly createdAtMs: number
  /** The newest accepted heartbeat. */
  readonly heardAtMs: number | undefined
  /** The heartbeat since which there was no silence of 90 s. */
  readonly wellSinceMs: number | undefined
  /** What was announced last. */
  readonly told: string
  /** A heartbeat has come that somebody has yet to announce. */
  readonly isBack: boolean
  /** What was announced, oldest first. */
  readonly news: readonly string[]
}

/** What somebody does to one node; a heartbeat comes with a key, counted from 0. */
export type Deed =
  | { readonly does: 'beat' | 'early beat'; readonly key: number }
  | { readonly does: 'announce' | 'recover' | 'deregister' | 'revoke' | 're-enrol' }

export const newborn = (createdAtMs: number): Reach => ({
  isGone: false,
  isCutOff: false,
  key: 0,
  createdAtMs,
  heardAtMs: undefined,
  wellSinceMs: undefined,
  told: 'never_reported',
  isBack: false,
  news: [],
})

const at = (ms: number): string => new Date(ms).toISOString()

/** What anybody who asks is told. */
export function shown(reach: Reach, nowMs: number): unknown {
  if (reach.isGone) return 'gone'
  const { heardAtMs, createdAtMs } = reach
  if (heardAtMs === undefined) return { state: 'never_reported', changed_at: at(createdAtMs) }
  const [state, changedAtMs] = standing(reach, nowMs)
  return { state, last_heartbeat_at: at(heardAtMs), changed_at: at(changedAtMs) }
}

function standing({ heardAtMs = 0, wellSinceMs = 0, createdAtMs }: Reach, nowMs: number): readonly [string, number] {
  if (heardAtMs === 0) return ['never_reported', createdAtMs]
  const silentMs = nowMs - heardAtMs
  if (silentMs < 90_000) return ['healthy', wellSinceMs]
  return silentMs < 300_000 ? ['stale', heardAtMs + 90_000] : ['unreachable', heardAtMs + 300_000]
}

/** What becomes of the node, and how it is answered; an announcement is answered to nobody. */
export function after(reach: Reach, deed: Deed, nowMs: number): readonly [Reach, string] {
  if (reach.isGone) return [reach, 'gone']
  switch (deed.does) {
    case 'deregister':
      return [{ ...reach, isGone: true }, '204']
    case 'revoke':
      return [{ ...reach, isCutOff: true }, '204']
    case 're-enrol':
      return [{ ...reach, isCutOff: false, key: reach.key + 1 }, '201']
    case 'announce':
      return [announced(reach, nowMs), '']
    case 'recover':
      return [reach.isBack ? announced(reach, nowMs) : reach, '']
    default:
      if (reach.isCutOff || deed.key !== reach.key) return [reach, 'nsk_revoked']
      return deed.does === 'beat' ? [heard(reach, nowMs), '200'] : [reach, 'clock_skew']
  }
}

/** A heartbeat that is no newer than the last one, as after a step of the clock, is known. */
function heard(reach: Reach, nowMs: number): Reach {
  const { heardAtMs } = reach
  if (heardAtMs !== undefined && heardAtMs >= nowMs) return reach
  const wasWell = heardAtMs !== undefined && nowMs - heardAtMs < 90_000
  const wellSinceMs = wasWell ? reach.wellSinceMs : nowMs
  return { ...reach, heardAtMs: nowMs, wellSinceMs, isBack: reach.told !== 'healthy' }
}

function announced(reach: Reach, nowMs: number): Reach {
  const [state, changedAtMs] = standing(reach, nowMs)
  if (state === reach.told) return { ...reach, isBack: false }
  const news = [...reach.news, `${reach.told} ${state} ${at(changedAtMs)}`]
  return { ...reach, told: state, isBack: false, news }
}

/** Something that happens to a node beside something else: it is done, or, an announcement, left for the next sweep. */
export interface Happening {
  readonly deed: Deed
  /** The answer that it is part of; undefined: nobody's. */
  readonly answer: number | undefined
  readonly mayWait: boolean
}

/** Everything that may have become of a node, with the answers, where each list happens in its order. */
export function outcomes(reach: Reach, lists: readonly (readonly Happening[])[], nowMs: number) {
  const ends: { readonly reach: Reach; readonly answers: ReadonlyMap<number, string> }[] = []
  const go = (now: Reach, left: readonly (readonly Happening[])[], answers: ReadonlyMap<number, string>): void => {
    if (left.every((list) => list.length === 0)) ends.push({ reach: { ...now, isBack: false }, answers })
    for (const [index, [next, ...rest]] of left.entries()) {
      if (next === undefined) continue
      const then = left.with(index, rest)
      const [changed, word] = after(now, next.deed, nowMs)
      go(changed, then, next.answer === undefined ? answers : new Map([...answers, [next.answer, word]]))
      if (next.mayWait) go(now, then, answers)
    }
  }
  go(reach, lists, new Map())
  return ends
}
