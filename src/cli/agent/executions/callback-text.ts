/** The server takes so many bytes of an execution's output (agent protocol: Executions). */
export const OUTPUT_BYTES_MAX = 8_192
/** The server takes so many bytes of an execution's error. */
export const ERROR_BYTES_MAX = 1_024

/** The beginning of a text: at most so many bytes of UTF-8, cut between characters. */
export function cutText(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let end = bytesMax
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString('utf8')
}
