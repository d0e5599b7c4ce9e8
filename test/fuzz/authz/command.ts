import { parseArgs } from 'node:util'
import { startOracle } from '../../support/authz/spicedb-oracle.ts'
import { runCampaign, type CampaignOptions, type Disagreement } from './campaign.ts'
import { keepCase, readCase, trialOf } from './cases.ts'
import { examine } from './examine.ts'
import { EXCLUSIONS, UNSTEADY } from './exclusions.ts'
import { SCHEMA_EXCLUSIONS } from './schema-exclusions.ts'
import { tallyLines, type Tally } from './tally.ts'

const PROGRESS_EVERY_MS = 5_000
const DISAGREEMENTS_MAX = 10

/** Where the lines of a run go. */
export type Print = (line: string) => void

/** Runs the fuzz as the command line asks: `--schemas N --seed S --first PLACE`, or `--case FILE`. Returns the exit code. */
export async function run(args: readonly string[], print: Print): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      schemas: { type: 'string', default: '5000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      first: { type: 'string', default: '0' },
      case: { type: 'string' },
    },
  })
  if (values.case !== undefined) return replay(values.case, print)
  return fuzz({ schemas: Number(values.schemas), seed: Number(values.seed), first: Number(values.first) }, print)
}

async function replay(file: string, print: Print): Promise<number> {
  const oracle = startOracle()
  try {
    const { pairs, disagreements, dispute, outcome } = await examine(trialOf(readCase(file)), oracle)
    for (const { query, ours, theirs } of pairs)
      print(`${JSON.stringify(query)}\n  ours:    ${ours}\n  SpiceDB: ${theirs}`)
    if (dispute !== undefined)
      print(`over the ${dispute.over}\n  ours:    ${dispute.ours}\n  SpiceDB: ${dispute.theirs}`)
    print(`${outcome}: ${disagreements.length} disagreements`)
    return outcome === 'disagreed' ? 1 : 0
  } finally {
    oracle.close()
  }
}

type Range = Pick<CampaignOptions, 'schemas' | 'seed' | 'first'>

async function fuzz(range: Range, print: Print): Promise<number> {
  print(`${range.schemas} schemas, seed ${range.seed}, from ${range.first}`)
  const onProgress = progress(range.schemas, print)
  const { tally, disagreements } = await runCampaign({
    ...range,
    disagreementsMax: DISAGREEMENTS_MAX,
    onProgress,
    onDisagreement: (disagreement) => report(disagreement, print),
  })
  for (const line of tallyLines(tally)) print(line)
  for (const { name, reason } of [...EXCLUSIONS, UNSTEADY, ...SCHEMA_EXCLUSIONS]) {
    if (tally.excluded.has(name)) print(`  ${name}: ${reason}`)
  }
  return disagreements.length === 0 ? 0 : 1
}

function progress(schemas: number, print: Print): (tally: Tally) => void {
  const startedMs = performance.now()
  let printedMs = startedMs
  return ({ schemas: done, disagreed }) => {
    const nowMs = performance.now()
    if (nowMs - printedMs < PROGRESS_EVERY_MS) return
    printedMs = nowMs
    const rate = (done * 1_000) / (nowMs - startedMs)
    print(`${done} of ${schemas} schemas, ${rate.toFixed(1)} a second, ${disagreed} disagreements`)
  }
}

function report({ name, kept, words }: Disagreement, print: Print): void {
  print(`\n${name}: kept as ${keepCase(name, kept)}`)
  for (const line of [...kept.schema, ...kept.tuples.map((tuple) => JSON.stringify(tuple))]) print(`  ${line}`)
  if (kept.refusal !== undefined) print(`  SpiceDB refuses it: ${kept.refusal}`)
  for (const line of words) print(`  ${line}`)
}
