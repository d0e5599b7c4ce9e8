import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runPythonAgent } from '../support/fleet/python-agent.ts'
import { compilerInput, worldInput } from '../support/policies/policy-inputs.ts'
import { policyAnswer, type PolicyInput } from '../support/policies/policy-vectors.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'

const VECTORS = fileURLToPath(new URL('../../docs/vectors', import.meta.url))
const PYTHON = requirement('python3-cryptography')
const python = PYTHON ?? ''
const WORLDS = depth({ ci: 2_000, deep: 10_000 })
const SEED = 27

/** Replaces the vectors of policies by these, and lets the agent in Python check all files in one process. */
function checked(inputs: readonly PolicyInput[], answerOf: (input: PolicyInput) => object = policyAnswer) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-policies-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(VECTORS, folder, { recursive: true })
  const vectors = inputs.map((input) => ({ name: JSON.stringify(input), input, expected: answerOf(input) }))
  writeFileSync(join(folder, 'policies.json'), JSON.stringify({ vectors }))
  const { exitCode, said } = runPythonAgent(python, ['vectors', folder])
  // The names of the vectors are their inputs: a failure can be repeated from the message.
  return { exitCode, failed: said.filter(({ event }) => event === 'vector_failed'), passed: said.at(-1)?.['passed'] }
}

describe.skipIf(PYTHON === undefined)(
  'The agent in Python and the server',
  () => {
    test(`have the same verdicts in ${WORLDS} random worlds`, () => {
      const worlds = fc.sample(worldInput, { numRuns: WORLDS, seed: SEED })
      const verdicts = new Set(worlds.map((world) => JSON.stringify(policyAnswer(world))))
      expect(verdicts.size).toBeGreaterThan(WORLDS / 4)
      const { exitCode, failed, passed } = checked(worlds)
      expect([exitCode, failed]).toEqual([0, []])
      expect(passed).toBeGreaterThan(WORLDS)
    })

    test('compile random policies to the same bytes', () => {
      const { exitCode, failed } = checked(fc.sample(compilerInput, { numRuns: WORLDS, seed: SEED }))
      expect([exitCode, failed]).toEqual([0, []])
    })

    test('are found to differ where one answer is another', () => {
      const [world] = fc.sample(worldInput, { numRuns: 1, seed: SEED })
      if (world === undefined) throw new Error('no world')
      const { exitCode, failed } = checked([world], (input) => ({ ...policyAnswer(input), may_exchange: [['x', 'y']] }))
      expect([exitCode, failed.length]).toEqual([1, 1])
    })
  },
  300_000,
)
