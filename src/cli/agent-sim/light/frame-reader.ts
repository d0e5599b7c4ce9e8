import { createParser } from 'eventsource-parser'
import { FRAME_CHARACTERS_MAX, type Frame } from '../../../client/event-stream.ts'

/** Receives what a stream contains. */
export interface FrameSink {
  frame(frame: Frame): void
  /** Least pause before the next connection, in ms. */
  retry(ms: number): void
}

/** Reads whole frames. One reader serves all streams of a process: a stream keeps only the beginning of a frame that has not arrived whole. */
export type FrameReader = (bytes: Buffer, sink: FrameSink) => void

const LINE_FEED = 0x0a

/** Makes a reader of server-sent events whose lines end with a line feed, as those of this server do. */
export function createFrameReader(): FrameReader {
  let sink: FrameSink | undefined
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => sink?.frame({ id, event, data }),
    onRetry: (ms) => sink?.retry(ms),
  })
  return (bytes, current) => {
    sink = current
    parser.feed(bytes.toString('utf8'))
  }
}

/** The offset after the last frame that the bytes contain whole; 0 if there is none. */
export function endOfFrames(bytes: Buffer): number {
  if (bytes.at(-1) === LINE_FEED && bytes.at(-2) === LINE_FEED) return bytes.length
  const at = bytes.lastIndexOf('\n\n', undefined, 'latin1')
  return at === -1 ? 0 : at + 2
}

/** Whether the beginning of a frame is longer than any frame of the server. */
export function isTooLong(held: Buffer): boolean {
  return held.length > FRAME_CHARACTERS_MAX
}
