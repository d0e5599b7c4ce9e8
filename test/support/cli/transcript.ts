import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { CliResult } from './cli-run.ts'

/** A command line as a person types it, with what it came to. */
export interface Step {
  readonly line: string
  readonly result: CliResult
}

/** What must not be in a transcript, since it differs from run to run, with what stands for it. */
export type Replacements = Readonly<Record<string, string>>

/** `$` is typed, `!` is stderr, `?` the exit code; stdout stands as it is. */
export function transcriptOf(steps: readonly Step[], replacements: Replacements): string {
  const lines = steps.flatMap(({ line, result }) => [`$ ${line}`, ...outputLines(result), `? ${result.exitCode}`, ''])
  const text = lines.join('\n')
  return Object.entries(replacements).reduce((so, [from, to]) => so.replaceAll(from, to), text)
}

function outputLines({ written }: CliResult): readonly string[] {
  return written
    .filter(({ text }) => text !== '')
    .flatMap(({ stream, text }) =>
      text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => (stream === 'stderr' ? `! ${line}`.trimEnd() : line)),
    )
}

/** Compares a transcript with the committed one; `CTL_GOLDEN=update` writes it instead. */
export function expectGolden(name: string, transcript: string): void {
  const path = fileURLToPath(new URL(`../../golden/${name}.txt`, import.meta.url))
  if (process.env['CTL_GOLDEN'] === 'update') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, transcript)
    return
  }
  if (!existsSync(path)) throw new Error(`${path} does not exist; run with CTL_GOLDEN=update and read what it writes`)
  expect(transcript).toBe(readFileSync(path, 'utf8'))
}

/** Splits a line as a POSIX shell would, for lines without expansions. */
export function words(line: string): readonly string[] {
  const found = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)
  return [...found].map(([, single, double, plain]) => single ?? double ?? plain ?? '').slice(1)
}
