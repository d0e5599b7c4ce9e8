import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { Instant } from './fields.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { heldFor } from './held-calls.ts'

/** A JWK (RFC 7517 §4, RFC 8037 §2); the members beyond those of the RFCs are for people. */
export const SigningKey = z
  .object({
    kty: z.literal('OKP').describe('Key type (RFC 8037)'),
    crv: z.literal('Ed25519').describe('Curve'),
    x: z.string().describe('The public key in base64url'),
    kid: z.string().describe('JWK thumbprint (RFC 7638)'),
    alg: z.literal('EdDSA').describe('Algorithm'),
    use: z.literal('sig').describe('The key verifies signatures'),
    nbf: z.int().describe('The key has signed nothing before; Unix seconds'),
    exp: z
      .int()
      .optional()
      .describe('The key must not be used to verify after that; Unix seconds. Absent while it has no successor'),
    state: z
      .enum(['next', 'current', 'retired', 'expired'])
      .describe('At the time of the answer; next ones sign later'),
    signs_from: Instant.describe('When the key begins to sign'),
    not_before: Instant.describe('nbf as an instant'),
    not_after: Instant.nullable().describe('exp as an instant'),
  })
  .meta({ id: 'SigningKey', description: 'A public key of this server as a JWK (RFC 7517 §4, RFC 8037 §2).' })

const SigningKeySet = z
  .object({
    keys: z
      .array(SigningKey)
      .describe('The current one first, then its successor, then retired ones, then expired ones if requested'),
  })
  .meta({ id: 'SigningKeySet', description: 'The public keys that verify events and sessions.' })

const SigningKeyRotation = z
  .object({
    kid: z.string().describe('The new key'),
    signs_from: Instant.describe('Until then the previous key signs'),
    previous_kid: z.string().describe('The key that it replaces'),
    verifies_until: Instant.describe('Signatures of the previous key can be verified until then'),
  })
  .meta({ id: 'SigningKeyRotation', description: 'The new signing key, and until when the previous one counts.' })

export const signingKeys = defineSurface(
  'signing-keys',
  {
    summary: 'Keys that sign event envelopes and session tokens',
    nouns: { 'signing-keys': { section: 'Access', position: 14, files: runtime('Made and rotated by the server') } },
  },
  {
    GetSigningKeys: {
      method: 'GET',
      path: '/v1/signing-keys',
      summary: 'List the keys that verify event envelopes and session tokens',
      description:
        'A JWK Set (RFC 7517). A key is published before it signs and stays until nothing that it signed is in use. A copy that is not older than Cache-Control allows always has the key of a new event.',
      credentials: [],
      query: z.strictObject({
        include: z.enum(['expired']).optional().describe('expired: also expired keys, for audit records of their time'),
      }),
      gate: open('public keys are for everybody who verifies'),
      audit: { none: 'decisions: the operation is open and reveals nothing about a tenant' },
      responses: { 200: SigningKeySet },
      headers: { 'Cache-Control': 'How long the list may be kept' },
      problems: ['signing_unavailable'],
      cli: { command: 'signing-keys list', rows: 'keys', columns: ['kid', 'state', 'signs_from', 'not_after'] },
    },
    PostSigningKeysRotate: {
      method: 'POST',
      path: '/v1/signing-keys/rotate',
      summary: 'Replace the signing key',
      description:
        'The new key is published at once and signs later, when every copy of the list has it. While a rotation is pending, another call returns the pending one.',
      credentials: OPERATOR,
      idempotent: true,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'signing_keys.rotate', when: 'all' },
      dualControl: heldFor('Replace the signing key of the platform', 'signing-keys.rotate'),
      responses: { 200: SigningKeyRotation },
      problems: ['signing_unavailable'],
      cli: {
        command: 'signing-keys rotate',
        confirm: 'yes',
        columns: ['kid', 'signs_from', 'previous_kid', 'verifies_until'],
        done: 'Key {kid} is published and signs from {signs_from} on.',
      },
    },
  },
)
