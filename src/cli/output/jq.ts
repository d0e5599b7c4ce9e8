import { createRequire } from 'node:module'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'

interface Jq {
  raw(json: string, filter: string, flags: readonly string[]): string | undefined
}

/** Throws the usage error of an expression that jq cannot compile. Runs nothing. */
export async function assertCompiles(expression: string): Promise<void> {
  await jq('null', `empty | (\n${expression}\n)`)
}

/** Runs a jq expression over JSON text; strings come out raw, one result per line. Throws a usage error that quotes jq. */
export async function jq(json: string, expression: string): Promise<string> {
  // CommonJS without types: what it exports is a promise of its functions.
  const engine = await (createRequire(import.meta.url)('jq-web') as Promise<Jq>)
  try {
    const text = engine.raw(json, expression, ['-r'])
    return text === undefined || text === '' ? '' : `${text}\n`
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause)
    const lines = said.split('\n').filter((line) => line.startsWith('jq: error'))
    throw new CliError(`--jq: ${(lines[0] ?? said).replace(/^jq: error\s*(?:\(at [^)]*\))?:?\s*/, '')}`, {
      exitCode: EXIT.usage,
      code: 'usage',
      hints: ['The expression language is that of jq 1.7.'],
      cause,
    })
  }
}
