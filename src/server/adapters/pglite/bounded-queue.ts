/** A queued value; an entry of exactly one queue. */
interface Entry<Value> {
  readonly value: Value
  previous: Entry<Value> | undefined
  next: Entry<Value> | undefined
  isQueued: boolean
}

/** A bounded queue, first in, first out. Adding and removing an entry takes constant time. */
export interface BoundedQueue<Value> {
  /** Adds the value at the end. Returns a function that removes it, without effect once it is dequeued; undefined when the queue is full. */
  enqueue(value: Value): (() => void) | undefined
  /** Removes the first value; undefined when the queue is empty. */
  dequeue(): Value | undefined
  isEmpty(): boolean
}

export function createBoundedQueue<Value>(entriesMax: number): BoundedQueue<Value> {
  let first: Entry<Value> | undefined
  let last: Entry<Value> | undefined
  let entries = 0

  function remove(entry: Entry<Value>): void {
    if (!entry.isQueued) return
    entry.isQueued = false
    entries -= 1
    if (entry.previous === undefined) first = entry.next
    else entry.previous.next = entry.next
    if (entry.next === undefined) last = entry.previous
    else entry.next.previous = entry.previous
  }

  return {
    enqueue(value) {
      if (entries >= entriesMax) return undefined
      const entry: Entry<Value> = { value, previous: last, next: undefined, isQueued: true }
      if (last === undefined) first = entry
      else last.next = entry
      last = entry
      entries += 1
      return () => remove(entry)
    },
    dequeue() {
      const entry = first
      if (entry !== undefined) remove(entry)
      return entry?.value
    },
    isEmpty: () => first === undefined,
  }
}
