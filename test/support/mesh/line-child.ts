import { createInterface } from 'node:readline'
import type { Box, Lab } from './lab.ts'

/** Starts a program in a box that prints a line when it is ready, and answers each line of JSON with one. Questions follow one another. */
export async function lineChild(
  lab: Lab,
  box: Box,
  argv: readonly string[],
): Promise<(question: unknown) => Promise<unknown>> {
  const { stdin, stdout } = lab.spawn(box, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  if (stdin === null || stdout === null) throw new Error('The process has no pipes.')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => {
    const { value } = await lines.next()
    if (value === undefined) throw new Error(`${argv.join(' ')} ended early.`)
    return JSON.parse(String(value))
  }
  await next()
  return async (question) => {
    stdin.write(`${JSON.stringify(question)}\n`)
    return next()
  }
}
