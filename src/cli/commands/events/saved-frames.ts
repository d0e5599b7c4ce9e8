import { createParser } from 'eventsource-parser'
import type { StreamFrame } from '../../../shared/events/frame-verifier.ts'
import { isMembers } from '../../../shared/shapes.ts'

/** A frame with the line where it begins, from 1. */
export interface SavedFrame {
  readonly line: number
  readonly frame: StreamFrame
}

/** A place in the file that holds no frame. `truncated`: the file ends within one. */
export interface BadPlace {
  readonly line: number
  readonly fault: 'malformed' | 'truncated'
}

/** Takes the lines of a file, one after the other. */
export interface SavedFrames {
  line(text: string): readonly (SavedFrame | BadPlace)[]
  end(): readonly BadPlace[]
}

const FIELDS = /^(?:id|event|data|retry)(?::|$)/

/**
 * Makes a reader of saved frames: server-sent events as they came, or JSON lines, each with `id`, `event` and `data` as
 * `ctl nodes events -o jsonl` writes them, or an envelope alone.
 */
export function createSavedFrames(): SavedFrames {
  let at = 0
  /** Where the frame of server-sent events begins whose lines are coming. */
  let begins: number | undefined
  let found: (SavedFrame | BadPlace)[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => void found.push({ line: begins ?? at, frame: { id, event, data } }),
  })

  function sse(text: string): void {
    if (text === '') {
      parser.feed('\n')
      begins = undefined
    } else if (text.startsWith(':')) return
    else if (FIELDS.test(text)) {
      begins ??= at
      parser.feed(`${text}\n`)
    } else found.push({ line: at, fault: 'malformed' })
  }

  return {
    line(text) {
      at += 1
      found = []
      if (text.startsWith('{')) found.push(jsonLine(text, at))
      else sse(text)
      return found
    },
    end: () => (begins === undefined ? [] : [{ line: begins, fault: 'truncated' }]),
  }
}

function jsonLine(text: string, line: number): SavedFrame | BadPlace {
  const value = parsed(text)
  if (!isMembers(value)) return { line, fault: 'malformed' }
  if ('signature' in value) return { line, frame: { id: undefined, event: undefined, data: text } }
  const { id, event, data } = value
  if (!isTextOrAbsent(id) || !isTextOrAbsent(event)) return { line, fault: 'malformed' }
  if (typeof data === 'string') return { line, frame: { id, event, data } }
  // What was the same text as an object becomes that text again: an object keeps the order of its members.
  return isMembers(data) ? { line, frame: { id, event, data: JSON.stringify(data) } } : { line, fault: 'malformed' }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
