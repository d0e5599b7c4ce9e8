import { describe, expect, test } from 'vitest'
import { bindSelector, nearestDefinition } from '../../../../src/shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../../../src/shared/selectors/canonical-selector.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import { CANONICAL_BYTES_MAX, SELECTOR_BYTES_MAX } from '../../../../src/shared/selectors/syntax.ts'
import { utf8Length } from '../../../../src/shared/selectors/tokens.ts'
import { definition, DEFINITIONS, DOMAIN, PROJECT } from './definitions.ts'

function canonical(text: string): string {
  const at = { domainId: DOMAIN, projectId: PROJECT }
  const { bound, errors } = bindSelector(parseSelector(text), (key) => nearestDefinition(DEFINITIONS, at, key))
  expect(errors).toEqual([])
  return bound === undefined ? '' : canonicalSelector(bound)
}

describe('The canonical form of a selector', () => {
  test.each([
    ['*', '*'],
    ['env', 'platform/env'],
    ['! env', '!platform/env'],
    ['env == "prod"', 'platform/env=prod'],
    ['env in (prod)', 'platform/env=prod'],
    ['env notin ( prod )', 'platform/env!=prod'],
    ['env in (b,a,"b")', 'platform/env in (a,b)'],
    ['env notin (b,a)', 'platform/env notin (a,b)'],
    ['env in (a,a)', 'platform/env=a'],
    ['cores < 5 , cores > 1', 'platform/cores<5,platform/cores>1'],
    ['cores in (10,9)', 'platform/cores in (10,9)'],
    ['tier=web', `project:${PROJECT}/tier=web`],
    ['platform/tier=web', 'platform/tier=web'],
    [`domain:${DOMAIN.toUpperCase()}/tier=web`, `domain:${DOMAIN}/tier=web`],
    ['region=eu,env=prod,env=prod,!legacy', '!platform/legacy,platform/env=prod,platform/region=eu'],
    ['env=""', 'platform/env=""'],
    ['env="a b"', 'platform/env="a b"'],
    [String.raw`env="\u00e9\/\u0041"`, 'platform/env="é/A"'],
    [String.raw`env="\u0009\""`, String.raw`platform/env="\t\""`],
    ['env in ("\u{1f680}","\uffee","é",z)', 'platform/env in ("é","\uffee","\u{1f680}",z)'],
  ])('%s', (text, expected) => {
    expect(canonical(text)).toBe(expected)
    expect(canonical(expected)).toBe(expected)
  })

  test('of the longest selector can be read with its own limit', () => {
    const key = (i: number): string => `k${String(i).padStart(2, '0')}`
    const values = Array.from({ length: 8 }, (_, i) => 'v'.repeat(14) + i).join()
    const text = Array.from({ length: 32 }, (_, i) => `${key(i)} notin(${values})`).join()
    const definitions = Array.from({ length: 32 }, (_, i) => definition(`project:${PROJECT}/${key(i)}`))
    const padded = text.slice(0, SELECTOR_BYTES_MAX)
    const parsed = parseSelector(padded.slice(0, padded.lastIndexOf(',k')))
    const { bound } = bindSelector(parsed, (wanted) => nearestDefinition(definitions, { projectId: PROJECT }, wanted))
    const stored = bound === undefined ? '' : canonicalSelector(bound)
    expect(utf8Length(stored)).toBeGreaterThan(SELECTOR_BYTES_MAX)
    expect(parseSelector(stored, CANONICAL_BYTES_MAX).errors).toEqual([])
    expect(parseSelector(stored).errors).toMatchObject([{ code: 'too_long' }])
  })
})
