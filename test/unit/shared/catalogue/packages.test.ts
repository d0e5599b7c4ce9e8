import { describe, expect, it } from 'vitest'
import { bySource, hasDistinctSources, mergedPackages, withOrigin } from '../../../../src/shared/catalogue/packages.ts'

const at = (source: string, version = 'v1') => ({ source, version })

describe('packages', () => {
  it.each([
    ['none', [], true],
    ['different sources', [at('r.example/a'), at('r.example/b')], true],
    ['one source in two versions', [at('r.example/a'), at('r.example/a', 'v2')], false],
    ['one source with and without its scheme', [at('r.example/a'), at('oci://r.example/a')], false],
  ])('are each of their own source: %s', (_, packages, expected) => {
    expect(hasDistinctSources(packages)).toBe(expected)
  })

  it('are sorted by source without its scheme, in the order of code units', () => {
    const sorted = bySource([at('oci://r.example/b'), at('r.example/c'), at('r.example/a'), at('R.example/z')])
    expect(sorted.map(({ source }) => source)).toEqual([
      'R.example/z',
      'r.example/a',
      'oci://r.example/b',
      'r.example/c',
    ])
  })

  it.each([
    [
      'nothing',
      [at('a'), at('b')],
      [],
      [
        { ...at('a'), origin: 'bundle' },
        { ...at('b'), origin: 'bundle' },
      ],
    ],
    [
      'one of the same source',
      [at('a'), at('b')],
      [at('b', 'v9')],
      [
        { ...at('a'), origin: 'bundle' },
        { ...at('b', 'v9'), origin: 'override' },
      ],
    ],
    [
      'one more',
      [at('b')],
      [at('a')],
      [
        { ...at('a'), origin: 'override' },
        { ...at('b'), origin: 'bundle' },
      ],
    ],
    [
      'the same in another spelling',
      [at('oci://r/a')],
      [at('r/a', 'v2')],
      [{ ...at('r/a', 'v2'), origin: 'override' }],
    ],
  ])('of a bundle are merged with %s', (_, ofBundle, overrides, expected) => {
    expect(mergedPackages(ofBundle, overrides)).toEqual(expected)
  })

  it('of a Cloud itself come from the Cloud', () => {
    expect(withOrigin([at('a')], 'cloud')).toEqual([{ source: 'a', version: 'v1', origin: 'cloud' }])
  })
})
