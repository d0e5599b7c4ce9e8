import { describe, expect, test } from 'vitest'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startOracle } from '../support/authz/spicedb-oracle.ts'
import { runCampaign } from './authz/campaign.ts'
import { keptCases, trialOf } from './authz/cases.ts'
import { examine } from './authz/examine.ts'
import { EXCLUSIONS } from './authz/exclusions.ts'
import { judgeSchema, openOurs } from './authz/ours.ts'
import { SCHEMA_EXCLUSIONS } from './authz/schema-exclusions.ts'
import type { FuzzTuple } from './authz/world.ts'

/** Deep runs look where none has looked, and the title names their seed; what every change is held to stays the same. */
const seed = depth({ ci: 20_261_121, deep: Date.now() % 1_000_000 })

const isRefused = (schema: string, tuples: readonly FuzzTuple[]): boolean =>
  judgeSchema(schema) !== '' || openOurs(schema, tuples).refused.length > 0

describe('kept cases', () => {
  test.each(keptCases())('the engine answers as SpiceDB did, or as the exclusion says: %s', (_, kept) => {
    const { schema, tuples } = trialOf(kept)
    const isOverTheSchema = kept.exclusion !== undefined && kept.queries.length === 0
    expect(isRefused(schema, tuples)).toBe((kept.refusal !== undefined) !== isOverTheSchema)
    if (kept.queries.length === 0) return
    const { answer } = openOurs(schema, tuples)
    expect(kept.queries.map((query) => answer(query))).toEqual(kept.queries.map(({ spicedb, ours = spicedb }) => ours))
  })
})

test('each exclusion has a kept case, but for those that come by chance', () => {
  const shown = new Set(keptCases().map(([, { exclusion }]) => exclusion))
  const names = [...EXCLUSIONS, ...SCHEMA_EXCLUSIONS].map(({ name }) => name)
  expect(names.filter((name) => !shown.has(name))).toEqual(['lookup-first-way'])
})

describe.skipIf(requirement('spicedb') === undefined)('real SpiceDB', () => {
  test(
    'agrees with the engine on every kept case, but for the exclusion that it shows',
    { timeout: 120_000 },
    async () => {
      const oracle = startOracle()
      try {
        for (const [name, kept] of keptCases()) {
          const { outcome, disagreements, excluded } = await examine(trialOf(kept), oracle)
          const exclusions = kept.exclusion === undefined ? [] : [kept.exclusion]
          const shown = [...excluded.keys()].filter((each) => each !== kept.perhaps)
          expect({ name, outcome, disagreements, exclusions: shown }).toEqual({
            name,
            outcome: kept.queries.length === 0 ? 'refused' : 'asked',
            disagreements: [],
            exclusions,
          })
        }
      } finally {
        oracle.close()
      }
    },
  )

  test(
    `agrees with the engine on random schemas, tuples, caveats and questions (seed ${seed})`,
    { timeout: depth({ ci: 600_000, deep: 7_200_000 }) },
    async () => {
      const { tally, disagreements } = await runCampaign({
        schemas: depth({ ci: 200, deep: 5_000 }),
        seed,
        disagreementsMax: 3,
      })
      expect(disagreements).toEqual([])
      expect(tally.refused).toBeLessThan(tally.schemas / 10)
      const { yes, conditional } = tally.answers.check
      expect(yes).toBeGreaterThan(1_000)
      expect(conditional).toBeGreaterThan(200)
      expect(tally.answers.resources.yes).toBeGreaterThan(100)
      expect(tally.answers.subjects.yes).toBeGreaterThan(100)
      expect(tally.mutantsTaken).toBeGreaterThan(50)
    },
  )
})
