import { startOracle, type Oracle } from '../../support/spicedb-oracle.ts'
import { schemaText } from './draft.ts'
import { examine, type Examination } from './examine.ts'
import { FEATURES } from './features.ts'
import { generateWorld } from './generate-world.ts'
import { createRandom, seedOf } from './random.ts'
import { shrink } from './shrink.ts'
import { addExamination, newTally, type Tally } from './tally.ts'
import type { World } from './world.ts'

/** SpiceDB keeps some memory of each schema; a process of it serves this many. */
const WORLDS_A_PROCESS = 250
const ATTEMPTS_MAX = 600

export interface CampaignOptions {
  readonly schemas: number
  readonly seed: number
  /** Ends the campaign after this many disagreements. */
  readonly disagreementsMax: number
  /** Called after each schema. */
  readonly onProgress?: (tally: Tally) => void
}

/** A world on which the engines disagree, as small as could be made. */
export interface Disagreement {
  readonly seed: number
  readonly place: number
  readonly world: World
  readonly examination: Examination
}

export interface CampaignResult {
  readonly tally: Tally
  readonly disagreements: readonly Disagreement[]
}

/** Asks both engines about as many random schemas as wanted; the seed decides which. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const tally = newTally()
  const disagreements: Disagreement[] = []
  for (let from = 0; from < options.schemas; from += WORLDS_A_PROCESS) {
    const oracle = startOracle()
    try {
      const to = Math.min(from + WORLDS_A_PROCESS, options.schemas)
      for (let place = from; place < to && disagreements.length < options.disagreementsMax; place++) {
        const found = await tryPlace({ ...options, place, oracle, tally })
        if (found !== undefined) disagreements.push(found)
      }
    } finally {
      oracle.close()
    }
  }
  return { tally, disagreements }
}

interface Attempt extends CampaignOptions {
  readonly place: number
  readonly oracle: Oracle
  readonly tally: Tally
}

async function tryPlace({ seed, place, oracle, tally, onProgress }: Attempt): Promise<Disagreement | undefined> {
  const world = generateWorld(createRandom(seedOf(seed, place)), FEATURES)
  const examination = await examineWorld(world, oracle)
  addExamination(tally, world, examination)
  onProgress?.(tally)
  if (examination.outcome !== 'disagreed') return undefined
  const smallest = await smallestOf(world, examination, oracle)
  return { seed, place, world: smallest, examination: await examineWorld(smallest, oracle) }
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
