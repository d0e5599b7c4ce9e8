import type { LoggerOptions } from 'pino'

/** Records of one kind that are written in full in each interval. */
export const FULL_RECORDS = 10
export const INTERVAL_MS = 10_000
/** Kinds that are counted apart; beyond it records share one kind of their level. */
const KINDS_MAX = 1_000

/** Levels that are sampled, by pino's numbers: below them a record is asked for explicitly, above them the process ends. */
const SAMPLED = { info: 30, error: 50 } as const

/** Members that tell kinds of failure apart. Each has few values, and none of them is chosen by a caller. */
const MARKS = ['operation', 'page', 'status', 'code', 'job'] as const

type Marks = Readonly<Record<string, unknown>>

interface Kind {
  readonly marks: Marks
  readonly message: string
  /** Writes a record of this kind's level past the sampling. */
  readonly write: (marks: Marks, message: string) => void
  count: number
}

/** Samples log records, so that a flood of failures cannot fill the log (quality: Reliability promises 10). */
export interface LogSampling {
  readonly logMethod: NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>
  /** Writes the counts of the records that the present interval left out, and begins a new one. */
  readonly flush: () => void
}

/**
 * Makes a sampling of the levels info to error: the first records of a kind in an interval are written in full. When the
 * interval ends, one record of each kind says how many more there were. A kind is level, message, class of error and marks.
 */
export function createLogSampling(): LogSampling {
  let kinds = new Map<string, Kind>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const ended = kinds
    kinds = new Map()
    for (const { marks, message, write, count } of ended.values())
      if (count > FULL_RECORDS) write({ ...marks, of: message, records: count - FULL_RECORDS }, 'more of the same')
  }

  function kindOf(record: Recorded, level: number): Kind {
    const own = keyOf(record, level)
    const isOwn = kinds.has(own) || kinds.size < KINDS_MAX
    const key = isOwn ? own : String(level)
    const known = kinds.get(key)
    if (known !== undefined) return known
    const kind = isOwn ? { ...record, count: 0 } : { ...record, marks: {}, message: 'any', count: 0 }
    kinds.set(key, kind)
    return kind
  }

  return {
    flush,
    logMethod(args, method, level) {
      if (level < SAMPLED.info || level > SAMPLED.error) return method.apply(this, args)
      const kind = kindOf(
        recordOf(args, (marks, message) => method.apply(this, [marks, message])),
        level,
      )
      kind.count += 1
      timer ??= setTimeout(flush, INTERVAL_MS).unref()
      if (kind.count <= FULL_RECORDS) method.apply(this, args)
    },
  }
}

type Recorded = Pick<Kind, 'marks' | 'message' | 'write'>

/** Takes the two forms of a call apart: `(members, message)` and `(message)`. */
function recordOf(args: readonly unknown[], write: Kind['write']): Recorded {
  const [first, second] = args
  if (typeof first === 'string') return { marks: {}, message: first, write }
  const members = (first ?? {}) as Marks
  const marks: Record<string, unknown> = {}
  for (const name of MARKS) if (members[name] !== undefined) marks[name] = members[name]
  const { err } = members
  if (err instanceof Error) marks['error'] = err.name
  return { marks, message: typeof second === 'string' ? second : '', write }
}

function keyOf({ marks, message }: Recorded, level: number): string {
  return JSON.stringify([level, message, marks])
}
