import { RunawayError, startOracle, type Oracle } from '../../support/authz/spicedb-oracle.ts'
import { caseOf, caseOfMisfit, caseOfText, type Case } from './cases.ts'
import { schemaText } from './draft.ts'
import { examine, type Examination } from './examine.ts'
import { FEATURES } from './features.ts'
import { generateWorld } from './generate-world.ts'
import { tryMisfits } from './misfits.ts'
import { judgeMutants } from './mutants.ts'
import { createRandom, seedOf } from './random.ts'
import { shrink } from './shrink.ts'
import { addExamination, addJudgement, newTally, type Tally } from './tally.ts'
import type { World } from './world.ts'

/** A process of SpiceDB grows by a MB or two with each; to start one costs as much as five. */
const WORLDS_A_PROCESS = 200
/** Processes of SpiceDB side by side. */
const LANES = 2
/** In that time data on which SpiceDB never ends takes a gigabyte or two of memory. */
const REQUEST_MS = 20_000
const ATTEMPTS_MAX = 150
/** Tuples that do not fit cost a SpiceDB of their own. */
const MISFITS_EVERY = 4

export interface CampaignOptions {
  readonly schemas: number
  readonly seed: number
  /** The place of the first schema among those of the seed. Absent: 0. */
  readonly first?: number
  /** Ends the campaign after this many disagreements. */
  readonly disagreementsMax: number
  /** Called after each schema. */
  readonly onProgress?: (tally: Tally) => void
  /** Called when one was found and made small. */
  readonly onDisagreement?: (disagreement: Disagreement) => void
}

/** Something on which the engines disagree, as small as could be made. */
export interface Disagreement {
  /** Names seed and place. */
  readonly name: string
  readonly kept: Case
  /** What each engine says, for people. */
  readonly words: readonly string[]
}

export interface CampaignResult {
  readonly tally: Tally
  readonly disagreements: readonly Disagreement[]
}

/** Asks both engines about as many random schemas as wanted; the seed decides which. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const tally = newTally()
  const disagreements: Disagreement[] = []
  const { first = 0 } = options
  let next = first

  const isOver = (): boolean => next >= first + options.schemas || disagreements.length >= options.disagreementsMax

  async function serve(oracle: Oracle): Promise<void> {
    for (let served = 0; served < WORLDS_A_PROCESS && !isOver(); served++) {
      const found = await tryPlace({ ...options, place: next++, oracle, tally })
      for (const disagreement of found) options.onDisagreement?.(disagreement)
      disagreements.push(...found)
    }
  }

  /** Goes on with another process, and the next schema, after data on which SpiceDB does not come to an answer. */
  async function lane(): Promise<void> {
    while (!isOver()) {
      const oracle = startOracle({ deadlineMs: REQUEST_MS })
      await serve(oracle)
        .catch(passOverRunaway)
        .finally(() => oracle.close())
    }
  }

  function passOverRunaway(error: unknown): void {
    if (!(error instanceof RunawayError)) throw error
    tally.excluded.set('runaway', (tally.excluded.get('runaway') ?? 0) + 1)
  }

  await Promise.all(Array.from({ length: LANES }, lane))
  return { tally, disagreements }
}

interface Attempt extends CampaignOptions {
  readonly place: number
  readonly oracle: Oracle
  readonly tally: Tally
}

async function tryPlace({ seed, place, oracle, tally, onProgress }: Attempt): Promise<Disagreement[]> {
  const random = createRandom(seedOf(seed, place))
  const world = generateWorld(random, FEATURES)
  const examination = await confirmed(world, oracle)
  addExamination(tally, world, examination)
  const about = `Seed ${seed}, schema ${place}.`
  const found: Omit<Disagreement, 'name'>[] = []
  if (examination.outcome === 'disagreed') {
    const smallest = await smallestOf(world, examination, oracle)
    const result = await examineWorld(smallest, oracle)
    found.push({ kept: caseOf(about, smallest, result), words: wordsOf(result) })
  }
  const judgement = await judgeMutants(random, schemaText(world.schema), oracle)
  addJudgement(tally, judgement)
  for (const each of judgement.misjudged) found.push({ kept: caseOfText(about, each), words: [`ours: ${each.ours}`] })
  if (examination.outcome !== 'refused' && place % MISFITS_EVERY === 0) {
    const { tried, misfits } = await tryMisfits(random, world, oracle)
    tally.misfits += tried
    for (const each of misfits)
      found.push({ kept: caseOfMisfit(about, world, each), words: [`SpiceDB: ${each.theirs}`] })
  }
  tally.disagreed += found.length
  onProgress?.(tally)
  return found.map((each, at) => ({ ...each, name: `seed-${seed}-${place}${at === 0 ? '' : `-${at}`}` }))
}

function wordsOf({ dispute, disagreements }: Examination): string[] {
  return [
    ...(dispute === undefined ? [] : [`over the ${dispute.over}: ours ${dispute.ours}; SpiceDB ${dispute.theirs}`]),
    ...disagreements.flatMap(({ query, ours, theirs }) => [
      JSON.stringify(query),
      `ours: ${ours}`,
      `SpiceDB: ${theirs}`,
    ]),
  ]
}

/** A dispute over schema or tuples that SpiceDB takes back when it is asked again is none. */
async function confirmed(world: World, oracle: Oracle): Promise<Examination> {
  const first = await examineWorld(world, oracle)
  return first.dispute === undefined ? first : examineWorld(world, oracle)
}

const examineWorld = (world: World, oracle: Oracle): Promise<Examination> =>
  examine({ ...world, schema: schemaText(world.schema) }, oracle)

/** Shrinks towards one query, or towards the dispute over the schema or the tuples. */
function smallestOf(world: World, { disagreements, dispute }: Examination, oracle: Oracle): Promise<World> {
  const [first] = disagreements
  const start = first === undefined ? { ...world, queries: [] } : { ...world, queries: [first.query] }
  return shrink(start, (candidate) => shows(candidate, dispute?.over, oracle), ATTEMPTS_MAX)
}

async function shows(world: World, over: 'schema' | 'tuples' | undefined, oracle: Oracle): Promise<boolean> {
  const { outcome, dispute } = await examineWorld(world, oracle)
  return outcome === 'disagreed' && dispute?.over === over
}
