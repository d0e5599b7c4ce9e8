import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { policyAnswer, type PolicyInput } from '../../../support/policies/policy-vectors.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface Expected {
  readonly text?: string
  readonly fingerprint?: string
}

const { vectors } = readVectors<PolicyInput, Expected>('policies')

describe('The vectors of policies', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(policyAnswer(input)).toEqual(expected)
  })

  it('have canonical texts and their SHA-256', () => {
    const compiled = vectors.flatMap(({ expected: { text, fingerprint } }) =>
      text === undefined ? [] : [{ text, fingerprint }],
    )
    expect(compiled.length).toBeGreaterThanOrEqual(8)
    for (const { text, fingerprint } of compiled) {
      expect(canonicalize(JSON.parse(text))).toBe(text)
      expect(createHash('sha256').update(text).digest('base64')).toBe(fingerprint)
    }
  })
})
