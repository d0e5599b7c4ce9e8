import { expect, test } from 'vitest'
import { oauthErrorMedia, withOauthError } from '../../../../src/server/http/oauth-error.ts'
import { Problem, type ProblemCode } from '../../../../src/shared/problems.ts'

test.each([
  [undefined, 'application/problem+json'],
  ['*/*', 'application/problem+json'],
  ['application/json', 'application/json'],
  ['application/json, text/plain;q=0.5', 'application/json'],
  ['application/json, application/problem+json', 'application/problem+json'],
])('with Accept: %s an OAuth problem has the media type %s', (accept, expected) => {
  expect(oauthErrorMedia(accept)).toBe(expected)
})

test.each<[ProblemCode, string]>([
  ['authorization_pending', 'authorization_pending'],
  ['slow_down', 'slow_down'],
  ['access_denied', 'access_denied'],
  ['expired_token', 'expired_token'],
  ['invalid_grant', 'invalid_grant'],
  ['invalid_client', 'invalid_client'],
  ['unsupported_grant_type', 'unsupported_grant_type'],
  ['invalid_body', 'invalid_request'],
  ['request_body_too_large', 'invalid_request'],
  ['unsupported_media_type', 'invalid_request'],
  ['rate_limited', 'temporarily_unavailable'],
  ['idp_unavailable', 'temporarily_unavailable'],
  ['internal', 'server_error'],
])('%s is %s to an OAuth client', (code, error) => {
  const answer = withOauthError(new Problem(code, { retry_after_seconds: 3 }, undefined))
  expect([answer.code, answer.extras]).toEqual([code, { retry_after_seconds: 3, error }])
})
