import { describe, expect, it } from 'vitest'
import {
  bindSelector,
  nearestDefinition,
  type Definition,
  type LabelValue,
} from '../../../../src/shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../../../src/shared/selectors/canonical-selector.ts'
import { matches } from '../../../../src/shared/selectors/evaluate-selector.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import { readVectors } from '../../../support/run/vectors.ts'
import { definition } from './definitions.ts'

interface Input {
  readonly text: string
  readonly definitions: Readonly<Record<string, Definition['type']>>
  readonly domain_id?: string
  readonly project_id?: string
  readonly objects?: readonly Readonly<Record<string, LabelValue>>[]
}

interface Expected {
  readonly canonical: string | null
  readonly errors: readonly { readonly offset: number; readonly length: number; readonly code: string }[]
  readonly selected?: readonly boolean[]
}

const { vectors } = readVectors<Input, Expected>('selectors')

function read({ text, definitions, domain_id, project_id, objects }: Input): Expected {
  const known = Object.entries(definitions).map(([key, type]) => definition(key, type))
  const at = { ...(domain_id && { domainId: domain_id }), ...(project_id && { projectId: project_id }) }
  const { bound, errors } = bindSelector(parseSelector(text), (key) => nearestDefinition(known, at, key))
  const selected = objects?.map((labels) => bound !== undefined && matches(bound, new Map(Object.entries(labels))))
  return {
    canonical: bound === undefined ? null : canonicalSelector(bound),
    errors: errors.map(({ offset, length, code }) => ({ offset, length, code })),
    ...(selected && { selected }),
  }
}

describe('A selector, as the vectors have it', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    expect(read(input)).toEqual(expected)
  })

  it('has vectors for every code of its errors', () => {
    const codes = new Set(vectors.flatMap(({ expected }) => expected.errors.map(({ code }) => code)))
    expect([...codes].toSorted()).toEqual([
      'empty',
      'too_long',
      'unexpected_token',
      'unknown_key',
      'unterminated_string',
      'wrong_type',
    ])
  })
})
