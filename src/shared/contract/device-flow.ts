import { z } from 'zod'
import { defineSurface, open } from './operation.ts'
import { Instant, KiB } from './fields.ts'
import { DEVICE_GRANT, DEVICE_POLL_PROBLEMS, DEVICE_POLL_RELATION, ServiceTokenResponse } from './oauth-schemas.ts'
import { AcrValues, WHERE_PROBLEMS, whereToSignIn } from './sign-in.ts'

/** Longest life of a device's token, in seconds: 30 days. */
const TOKEN_SECONDS_MAX = 30 * 86_400

const UserCode = z
  .string()
  .max(64)
  .describe('XXXX-XXXX as shown by the device; case, blanks and hyphens do not matter')
  .meta({ problem: 'invalid_user_code' })

const DeviceCodeRequest = z
  .strictObject({
    ...whereToSignIn,
    client_id: z.string().min(1).max(128).optional().describe('`ctl` by default'),
    client_name: z.string().max(128).optional().describe('Shown to the approving person, as unverified'),
    scope: z.string().max(1024).optional().describe('Scopes of the token, separated by blanks; `*` by default'),
    acr_values: AcrValues.optional(),
    max_age: z.int().min(60).max(86_400).optional().describe('Seconds; the approving sign-in must not be older'),
    token_expires_in_seconds: z
      .int()
      .min(60)
      .max(TOKEN_SECONDS_MAX)
      .optional()
      .describe('Lifetime of the token; 30 days by default and at most'),
  })
  .refine(({ idp_binding_id: id, idp_binding_alias: alias }) => id === undefined || alias === undefined, {
    error: 'idp_binding_id and idp_binding_alias exclude each other',
  })
  .meta({ id: 'DeviceCodeRequest', description: 'The beginning of a device sign-in (RFC 8628).' })

const DeviceCodeResponse = z
  .object({
    device_code: z
      .string()
      .meta({ 'x-service-write-once': true })
      .describe('Secret of the device, with which it asks for its token; shown only once'),
    user_code: z.string().describe('Code that the person types, `XXXX-XXXX`'),
    verification_uri: z.string().meta({ format: 'uri' }).describe('Address at which the person types the code'),
    verification_uri_complete: z.string().meta({ format: 'uri' }).describe('The same address with the code in it'),
    expires_in: z.int().describe('Seconds until both codes expire'),
    interval: z.int().describe('Seconds that the device waits between two questions for its token'),
  })
  .meta({
    id: 'DeviceCodeResponse',
    description: 'The two codes of a device sign-in, and where the person types one of them.',
  })

const DeviceTokenRequest = z
  .strictObject({
    grant_type: z.string().max(128).optional().describe(`${DEVICE_GRANT}; taken for granted when absent`),
    device_code: z.string().min(1).max(256).describe('Secret of the device, from the answer that began the sign-in'),
    client_id: z.string().min(1).max(128).optional().describe('The client that began the sign-in; `ctl` by default'),
  })
  .meta({ id: 'DeviceTokenRequest', description: 'The question of a device for its token.' })

const DeviceApproveRequest = z
  .strictObject({ user_code: UserCode })
  .meta({ id: 'DeviceApproveRequest', description: 'The code of the device that is decided on.' })

const DeviceApproveResponse = z
  .object({
    user_code: z.string().describe('Code of the device'),
    status: z.enum(['approved', 'denied']).describe('What was decided'),
    client_id: z.string().describe('The client that asked, as it names itself'),
    scopes: z.array(z.string()).describe('Scopes that the token of the device has'),
    expires_at: Instant.describe('Until when the device can fetch its token'),
  })
  .meta({ id: 'DeviceApproveResponse', description: 'What was decided on the sign-in of a device.' })

const FORMS = ['application/json', 'application/x-www-form-urlencoded'] as const
const decision = {
  method: 'POST',
  credentials: ['session'],
  perAddress: true,
  doubleSubmit: true,
  body: DeviceApproveRequest,
  bodyBytesMax: 8 * KiB,
  gate: open('S0 Authentication 2: the interactive session itself; the service holds it to its own Domain'),
  responses: { 200: DeviceApproveResponse },
  problems: ['invalid_user_code', 'device_session_not_found', 'reauthentication_required'],
  notProvisioned: 'sign_in_not_provisioned',
} as const

export const deviceFlow = defineSurface('device', 'Signing in from a box without a browser (RFC 8628)', {
  PostAuthDeviceCode: {
    method: 'POST',
    path: '/v1/auth/device-code',
    summary: 'Begin a device sign-in',
    description:
      'For programs on machines without a browser (RFC 8628). A person types the user code on another device and approves; the program polls with the device code.',
    credentials: [],
    perAddress: true,
    oauthErrors: true,
    body: DeviceCodeRequest,
    bodyBytesMax: 8 * KiB,
    bodyMedia: FORMS,
    gate: open('S0 Authentication 2'),
    audit: { relation: 'auth.device_code.start', when: 'all' },
    responses: { 200: DeviceCodeResponse },
    problems: [...WHERE_PROBLEMS, 'invalid_scope', 'device_flow_exhausted'],
    notProvisioned: 'sign_in_not_provisioned',
  },
  PostAuthDeviceToken: {
    method: 'POST',
    path: '/v1/auth/device-token',
    summary: 'Ask whether a device sign-in was approved, and fetch its token',
    description:
      'Poll at the `interval` of the first answer: `authorization_pending` and `slow_down` mean to ask again. Once approved, the token is in one answer alone.',
    credentials: [],
    oauthErrors: true,
    body: DeviceTokenRequest,
    bodyBytesMax: 8 * KiB,
    bodyMedia: FORMS,
    gate: open('S0 Authentication 2: the device code is the credential'),
    audit: { relation: DEVICE_POLL_RELATION, when: 'all' },
    responses: { 200: ServiceTokenResponse },
    problems: [...DEVICE_POLL_PROBLEMS, 'unsupported_grant_type'],
    notProvisioned: 'sign_in_not_provisioned',
  },
  PostAuthDeviceApprove: {
    ...decision,
    path: '/v1/auth/device/approve',
    summary: 'Approve a device sign-in as the person who is signed in here',
    description:
      'The device then gets an API token that acts as this person. It needs a session in a browser; API tokens cannot approve.',
    problems: [...decision.problems, 'step_up_required'],
    sentences: { step_up_required: 'The device asked for a stronger or more recent sign-in than this session has.' },
    audit: { relation: 'auth.device_code.approve', when: 'all', object: '{caller.subject}' },
  },
  PostAuthDeviceDeny: {
    ...decision,
    path: '/v1/auth/device/deny',
    summary: 'Refuse a device sign-in',
    description: 'The device gets no token: its next question is answered with `access_denied`.',
    audit: { relation: 'auth.device_code.deny', when: 'all', object: '{caller.subject}' },
  },
})
