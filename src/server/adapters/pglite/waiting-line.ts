/** A waiting caller; an entry of exactly one line. */
interface Place<Value> {
  readonly value: Value
  before: Place<Value> | undefined
  behind: Place<Value> | undefined
  isTaken: boolean
}

/** First in, first out, a bounded number of places. Joining, leaving and serving cost the same however long the line is. */
export interface WaitingLine<Value> {
  /** Puts the value at the end. Returns what takes it out again, which does nothing once it was served; undefined where the line is full. */
  join(value: Value): (() => void) | undefined
  /** Takes out the first; undefined when nobody waits. */
  serve(): Value | undefined
  isEmpty(): boolean
}

export function createWaitingLine<Value>(placesMax: number): WaitingLine<Value> {
  let first: Place<Value> | undefined
  let last: Place<Value> | undefined
  let places = 0

  function leave(place: Place<Value>): void {
    if (!place.isTaken) return
    place.isTaken = false
    places -= 1
    if (place.before === undefined) first = place.behind
    else place.before.behind = place.behind
    if (place.behind === undefined) last = place.before
    else place.behind.before = place.before
  }

  return {
    join(value) {
      if (places >= placesMax) return undefined
      const place: Place<Value> = { value, before: last, behind: undefined, isTaken: true }
      if (last === undefined) first = place
      else last.behind = place
      last = place
      places += 1
      return () => leave(place)
    },
    serve() {
      const served = first
      if (served !== undefined) leave(served)
      return served?.value
    },
    isEmpty: () => first === undefined,
  }
}
