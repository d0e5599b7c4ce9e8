import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaText } from './draft.ts'
import type { Examination, Trial } from './examine.ts'
import type { Misfit } from './misfits.ts'
import type { Verdicts } from './schema-exclusions.ts'
import type { FuzzTuple, Query, World } from './world.ts'

/** A trial on which the engines once disagreed, with SpiceDB's answers, so that it can be held against ours alone. */
export interface Case {
  /** What it shows, in a sentence. */
  readonly about: string
  readonly schema: readonly string[]
  readonly tuples: readonly FuzzTuple[]
  /** `ours` where it is another answer, by the exclusion. */
  readonly queries: readonly (Query & { readonly spicedb: string; readonly ours?: string })[]
  /** SpiceDB's words where it refuses schema or tuples. */
  readonly refusal?: string
  /** The exclusion that it is the witness of: the engines still differ. */
  readonly exclusion?: string
  /** An exclusion that it falls under at times, by which part of SpiceDB's walk ends first. */
  readonly perhaps?: string
}

const folder = fileURLToPath(new URL('cases/', import.meta.url))

export function readCase(file: string): Case {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The kept cases by the names of their files. */
export function keptCases(): readonly (readonly [string, Case])[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return files.toSorted().map((file) => [file, readCase(join(folder, file))] as const)
}

/** Writes the case into the folder of kept ones and returns its path. */
export function keepCase(name: string, kept: Case): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.json`)
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`)
  return file
}

export function caseOf(about: string, world: World, { pairs, dispute }: Examination): Case {
  return {
    about,
    schema: schemaText(world.schema).trimEnd().split('\n'),
    tuples: world.tuples,
    queries: pairs.map(({ query, theirs }) => ({ ...query, spicedb: theirs })),
    ...(dispute !== undefined && dispute.theirs !== 'taken' && { refusal: dispute.theirs }),
  }
}

/** A schema text that one engine takes and the other refuses. */
export function caseOfText(about: string, { text, theirs }: Verdicts): Case {
  return { about, schema: text.split('\n'), tuples: [], queries: [], ...(theirs !== '' && { refusal: theirs }) }
}

/** A tuple that one engine takes and the other refuses. */
export function caseOfMisfit(about: string, { schema }: World, { tuple, theirs }: Misfit): Case {
  const lines = schemaText(schema).trimEnd().split('\n')
  return { about, schema: lines, tuples: [tuple], queries: [], ...(theirs !== '' && { refusal: theirs }) }
}

export function trialOf({ schema, tuples, queries }: Case): Trial {
  return { schema: `${schema.join('\n')}\n`, tuples, queries }
}
