/** An event of a Domain, as the console shows it. */
export interface SeenEvent {
  readonly id: string
  readonly type: string
  /** What changed, `<type>:<id>`. */
  readonly object: string
  readonly at: string
  /** What became of it, e.g. `healthy → stale`; empty for most types. */
  readonly change: string
}

/** Events that are kept. */
export const SEEN_MAX = 200

/** Appends events; the oldest go first. One that is there already is not added again. */
export function withEvents(events: readonly SeenEvent[], more: readonly SeenEvent[]): readonly SeenEvent[] {
  if (more.length === 0) return events
  return [...new Map([...events, ...more].map((event) => [event.id, event])).values()].slice(-SEEN_MAX)
}

/** Reads a frame of the stream; undefined for one that names no object, such as a later server may send. */
export function seenEvent(id: string | undefined, data: string): SeenEvent | undefined {
  const envelope = recordOf(parsed(data))
  const payload = recordOf(envelope['payload'])
  const [type, at, object, from, to] = [
    envelope['type'],
    envelope['occurred_at'],
    payload['object'],
    payload['from'],
    payload['to'],
  ]
  if (id === undefined || typeof type !== 'string' || typeof at !== 'string' || typeof object !== 'string')
    return undefined
  const change = typeof from === 'string' && typeof to === 'string' ? `${from} → ${to}` : ''
  return { id, type, object, at, change }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
