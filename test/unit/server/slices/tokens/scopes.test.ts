import { describe, expect, it } from 'vitest'
import { areScopesWithin, requireScopes } from '../../../../../src/server/slices/tokens/scopes.ts'

describe('scopes that are asked for', () => {
  it('are everything by default, and each once', () => {
    expect(requireScopes(undefined)).toEqual(['*'])
    expect(requireScopes(['nodes:read', 'admin-tokens:write', 'nodes:read'])).toEqual([
      'nodes:read',
      'admin-tokens:write',
    ])
  })

  it.each(['nowhere:read', 'toString:read', 'adminTokens:read'])('must name a surface: %s', (scope) => {
    expect(() => requireScopes([scope])).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
  })
})

describe('scopes within others', () => {
  it.each([
    { wanted: ['nodes:read'], held: ['*'], within: true },
    { wanted: ['*'], held: ['*'], within: true },
    { wanted: ['*'], held: ['nodes:read', 'nodes:write'], within: false },
    { wanted: ['nodes:read'], held: ['nodes:read'], within: true },
    { wanted: ['nodes:read'], held: ['nodes:write'], within: true },
    { wanted: ['nodes:write'], held: ['nodes:read'], within: false },
    { wanted: ['nodes:read', 'audit:read'], held: ['nodes:read'], within: false },
    { wanted: ['nodes:read'], held: [], within: false },
  ])('$wanted within $held: $within', ({ wanted, held, within }) => {
    expect(areScopesWithin(wanted, held)).toBe(within)
  })
})
