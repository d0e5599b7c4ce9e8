import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { defineSurface, open, OPERATOR } from './operation.ts'
import { CreatedAt, Instant, OwnId, uuidField } from './fields.ts'

const Factor = z
  .object({
    id: OwnId,
    kind: z.enum(['passkey', 'totp']).describe('Passkey or authenticator app'),
    label: z.string().describe('Name that the person gave it'),
    created_at: CreatedAt.nullable().describe('Null where it was set up before this was recorded'),
    last_used_at: Instant.nullable().describe('When it was used last; null before the first time'),
    required: z.boolean().describe('Whether it cannot be removed before there is another one'),
  })
  .meta({ id: 'SecondFactor', description: 'A passkey or an authenticator app of the caller.' })

const common = { credentials: OPERATOR, notProvisioned: 'bundled_provider_not_provisioned' } as const

export const ownFactors = defineSurface(
  'factors',
  {
    summary: 'Second factors of your own local account',
    nouns: { factors: { section: 'Access', position: 9, files: runtime('Second factors of people') } },
  },
  {
    GetAuthFactors: {
      ...common,
      method: 'GET',
      path: '/v1/auth/factors',
      summary: 'List the second factors of your local account, oldest first',
      description:
        'Passkeys and the authenticator app of the bundled provider; none for people of another provider. Further ones are set up during a sign-in.',
      gate: open("decision 0026: the caller's own"),
      audit: { relation: 'auth.factor.list', when: 'all', object: '{caller.subject}' },
      responses: { 200: z.array(Factor).describe('The second factors of the caller.') },
      problems: [],
      cli: {
        command: 'factors list',
        columns: ['kind', 'label', 'created_at', 'last_used_at', 'required', 'id'],
      },
    },
    DeleteAuthFactorByID: {
      ...common,
      method: 'DELETE',
      path: '/v1/auth/factors/{id}',
      summary: 'Remove one of your own second factors, and end your sessions in other browsers',
      description: 'Needs a browser session whose sign-in is younger than 15 minutes. The start page offers it.',
      params: z.strictObject({ id: uuidField('invalid_factor_id', 'Factor') }),
      gate: open("decision 0026: the caller's own"),
      audit: { relation: 'auth.factor.remove', when: 'all', object: '{caller.subject}' },
      responses: { 204: null },
      problems: ['session_required', 'reauthentication_required', 'factor_not_found', 'last_second_factor'],
    },
  },
)
