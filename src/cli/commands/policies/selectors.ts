import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { syntaxFaults } from '../../errors/selector-errors.ts'
import { underline, type Fault } from '../../output/underline.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { PolicyFile } from './documents.ts'

/** A selector of a policy that has errors. */
export interface FaultySelector {
  /** File and member, as a person finds it. */
  readonly place: string
  readonly text: string
  readonly faults: readonly Fault[]
}

/** Refuses policies with selectors that cannot be read, before the server is asked. */
export async function assertSelectors(files: readonly Pick<PolicyFile, 'name' | 'members'>[]): Promise<void> {
  const found: FaultySelector[] = []
  for (const { name, members } of files) {
    for (const [pointer, text] of selectorsIn(members)) {
      const faults = await syntaxFaults(text)
      if (faults.length > 0) found.push({ place: `${name}: ${memberAt(pointer)}`, text, faults })
    }
  }
  if (found.length > 0) throw faultySelectors(found)
}

/** The failure of selectors of policies, each underlined below its place. */
export function faultySelectors(found: readonly FaultySelector[]): CliError {
  const hints = found.flatMap(({ place, text, faults }) => [
    `${place}:`,
    ...underline(text, faults).map((line) => `  ${line}`),
  ])
  const message = found.length === 1 ? 'a selector has errors' : `${found.length} selectors have errors`
  return new CliError(message, { exitCode: EXIT.invalid, code: 'invalid_selector', hints })
}

/** `/rules/0/peers` is `rules 1 peers`: a person counts from 1. */
export function memberAt(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step)).join(' ')
}

/** The text at a pointer of a policy; undefined where there is none. */
export function textAt(members: Row, pointer: string): string | undefined {
  return new Map(selectorsIn(members)).get(pointer)
}

function selectorsIn(members: Row): readonly (readonly [pointer: string, text: string])[] {
  const { selector, rules, tests } = members
  return [
    ...texts({ selector }, '', ['selector']),
    ...entries(rules).flatMap((rule, index) => texts(rule, `/rules/${index}`, ['peers', 'except_peers'])),
    ...entries(tests).flatMap((test, index) => texts(test, `/tests/${index}`, ['from', 'to'])),
  ]
}

function entries(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : []
}

function texts(row: unknown, at: string, names: readonly string[]): readonly (readonly [string, string])[] {
  if (!isRow(row)) return []
  return names.flatMap((name) => {
    const text = row[name]
    return typeof text === 'string' ? [[`${at}/${name}`, text] as const] : []
  })
}
