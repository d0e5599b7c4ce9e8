import type { AdminRequest } from '../ports/admin-command.ts'

/** Longest input of a command, in bytes of its JSON. */
const INPUT_BYTES_MAX = 1024 * 1024
/** Longest request: binaries whose bytes were signed come with it. */
export const FRAME_BYTES_MAX = 512 * 1024 * 1024

/** Media type of the answer to a long command: JSON objects in lines, `{report}` each and `{status, message}` last. */
export const LINES = 'application/x-ndjson'

const LENGTH_BYTES = 4

/** The body of a request: the length of the head in four bytes, the head in JSON, then the attachments. */
export function encodeFrame({ input, attachments }: Omit<AdminRequest, 'command'>): readonly Uint8Array[] {
  const head = Buffer.from(JSON.stringify({ input, attachments: attachments.map(({ length }) => length) }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return [length, head, ...attachments]
}

/** Reverses it; undefined where the body is malformed. */
export function decodeFrame(body: Buffer): Omit<AdminRequest, 'command'> | undefined {
  if (body.length < LENGTH_BYTES) return undefined
  const headEnd = LENGTH_BYTES + body.readUInt32BE()
  if (headEnd > body.length || headEnd > INPUT_BYTES_MAX) return undefined
  const head = headIn(body.subarray(LENGTH_BYTES, headEnd))
  if (head === undefined) return undefined
  const attachments: Uint8Array[] = []
  let at = headEnd
  for (const length of head.lengths) {
    attachments.push(body.subarray(at, at + length))
    at += length
  }
  return at === body.length ? { input: head.input, attachments } : undefined
}

function headIn(bytes: Buffer): { readonly input: unknown; readonly lengths: readonly number[] } | undefined {
  try {
    const head: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof head !== 'object' || head === null || !('input' in head) || !('attachments' in head)) return undefined
    const { input, attachments: lengths } = head
    return Array.isArray(lengths) && lengths.every(isLength) ? { input, lengths } : undefined
  } catch {
    return undefined
  }
}

const isLength = (length: unknown): length is number => Number.isSafeInteger(length) && Number(length) >= 0
