import { describe, expect, it } from 'vitest'
import { normalizeHosts, referencesOf } from '../../../../../src/server/slices/resources/resource.ts'

describe('referencesOf', () => {
  it.each([
    ['bridge', ['resource:r1']],
    ['vm', ['resource:r1']],
    ['network', ['resource:r1', 'network:r1']],
    ['workload', ['resource:r1', 'workload:r1']],
    ['constructor', ['resource:r1']],
  ])('names a %s %j in the authorization model', (kind, references) => {
    expect(referencesOf({ id: 'r1', kind })).toEqual(references)
  })
})

describe('normalizeHosts', () => {
  it('writes ids in lower case, ascending, each once', () => {
    const low = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
    const high = 'f1935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
    expect(normalizeHosts([high.toUpperCase(), low, high])).toEqual([low, high])
  })
})
