import { describe, expect, it } from 'vitest'
import { oauthErrorMedia } from '../../../../src/server/http/oauth-error.ts'

describe('A problem of an OAuth endpoint', () => {
  it.each([
    [undefined, 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['application/json', 'application/json'],
    ['application/json, text/plain;q=0.5', 'application/json'],
    ['application/json, application/problem+json', 'application/problem+json'],
  ])('with Accept: %s has the media type %s', (accept, expected) => {
    expect(oauthErrorMedia(accept)).toBe(expected)
  })
})
