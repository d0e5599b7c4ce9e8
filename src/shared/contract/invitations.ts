import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { CreatedAt, CreatedBy, InDomain, Instant, KiB, OwnId, pageOf, pageQuery, uuidField } from './fields.ts'

const Email = z
  .email()
  .max(254)
  .transform((email) => email.toLowerCase())

const InvitationCreateRequest = z
  .strictObject({
    email: Email.describe('Anyone who signs in with this verified address is let in, once'),
    ttl_seconds: z.int().min(60).max(2_592_000).optional().describe('7 days by default, 30 at most'),
  })
  .meta({ id: 'InvitationCreateRequest', description: 'The address to invite.' })

const Invitation = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    email: z.string().describe('Verified address that the person signs in with'),
    created_by: CreatedBy,
    created_at: CreatedAt,
    expires_at: Instant.describe('When the invitation expires'),
    accepted_at: Instant.nullable().describe('When the person signed in; null before'),
    accepted_by: z.string().nullable().describe('user:<uuid>'),
  })
  .meta({ id: 'Invitation', description: 'Permission for one e-mail address to sign in.' })

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
    nouns: { invitations: { section: 'Access', position: 3, files: runtime('Sent to people, and used once') } },
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
      description: 'Accepted and expired invitations are among them.',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      audit: { relation: 'invitation.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Invitation).meta({ id: 'InvitationList', description: 'A page of invitations.' }) },
      problems: [],
      cli: { command: 'invitations list', refs: { id: 'domains' }, columns },
    },
    DeleteInvitation: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/invitations/{invitation_id}',
      summary: 'Take an invitation back',
      description: 'The address can no longer sign in by it. A person who has signed in stays a user.',
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
