import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { Instant, KiB, pageOf, pageQuery, Uuid, uuidField } from './fields.ts'

const Email = z
  .email()
  .max(254)
  .transform((email) => email.toLowerCase())

const InvitationCreateRequest = z
  .strictObject({
    email: Email.describe('Anyone who signs in with this verified address is let in, once'),
    ttl_seconds: z.int().min(60).max(2_592_000).optional().describe('7 days by default, 30 at most'),
  })
  .meta({ id: 'InvitationCreateRequest' })

const Invitation = z
  .object({
    id: Uuid,
    domain_id: Uuid,
    email: z.string(),
    created_by: z.string(),
    created_at: Instant,
    expires_at: Instant,
    accepted_at: Instant.nullable(),
    accepted_by: z.string().nullable().describe('user:<uuid>'),
  })
  .meta({ id: 'Invitation' })

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const columns = ['email', 'expires_at', 'accepted_at', 'accepted_by', 'id']
const common = {
  credentials: OPERATOR,
  gate: check('manage', 'domain:{path.id}'),
  notProvisioned: 'not_provisioned',
} as const

export const invitations = defineSurface(
  'invitations',
  {
    summary: 'Who may become a user of a Domain at sign-in',
    nouns: { invitations: { section: 'Access', position: 3 } },
  },
  {
    CreateInvitation: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/invitations',
      summary: 'Invite a person to a Domain by e-mail address',
      description:
        'Nothing is sent: tell them to sign in. Signing in with that verified address uses the invitation up.',
      params: ofDomain,
      body: InvitationCreateRequest,
      bodyBytesMax: 8 * KiB,
      audit: { relation: 'invitation.create', when: 'all' },
      responses: { 201: Invitation },
      headers: { Location: 'Path of the new invitation' },
      problems: ['domain_not_found', 'invitation_already_exists'],
      cli: {
        command: 'invitations create',
        args: ['email'],
        refs: { id: 'domains' },
        columns,
        handle: { member: 'email', taken: 'invitation_already_exists' },
        done: 'Invited {email} until {expires_at}. Nothing is sent: tell them to sign in.',
      },
    },
    ListInvitations: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/invitations',
      summary: 'List the invitations of a Domain, newest first',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      audit: { relation: 'invitation.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Invitation).meta({ id: 'InvitationList' }) },
      problems: [],
      cli: { command: 'invitations list', refs: { id: 'domains' }, columns },
    },
    DeleteInvitation: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/invitations/{invitation_id}',
      summary: 'Take an invitation back',
      params: ofDomain.extend({ invitation_id: uuidField('invalid_invitation_id', 'Invitation') }),
      audit: { relation: 'invitation.revoke', when: 'all' },
      responses: { 204: null },
      problems: ['invitation_not_found'],
      cli: {
        command: 'invitations revoke',
        args: ['invitation_id'],
        refs: { id: 'domains', invitation_id: 'invitations' },
        confirm: 'yes',
        done: 'Took invitation {invitation_id} back.',
      },
    },
  },
)
