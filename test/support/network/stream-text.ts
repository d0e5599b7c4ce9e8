/**
 * Reads an answer that goes on until its text matches, then hangs up. Resolves with all that was read.
 *
 * @throws Error where it ends before.
 */
export async function textUntil({ body }: Response, pattern: RegExp): Promise<string> {
  if (body === null) throw new Error('the answer has no body')
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  try {
    while (!pattern.test(text)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`the answer ended with ${JSON.stringify(text)}`)
      text += decoder.decode(value, { stream: true })
    }
    return text
  } finally {
    await reader.cancel()
  }
}
