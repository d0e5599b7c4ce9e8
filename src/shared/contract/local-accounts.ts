import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { openedFor } from './held-calls.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  CreatedAt,
  DisplayName,
  InDomain,
  Instant,
  KiB,
  OwnId,
  pageOf,
  pageQuery,
  ShownName,
  Uuid,
  uuidField,
} from './fields.ts'

const Login = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._+@-]{0,253}$/, { error: 'must be lower-case letters, digits and . _ + @ -' })
  .describe('What the person types to sign in: a name or an e-mail address')

const AccountCreateRequest = z
  .strictObject({
    login: Login,
    display_name: DisplayName,
    email: z.email().max(254).optional().describe('E-mail address of the person'),
    domain_id: uuidField('invalid_domain_id', 'Domain that the person becomes a user of'),
    platform_admin: z.boolean().optional().describe('Gives the person the role admin on the platform, too'),
  })
  .meta({ id: 'LocalAccountCreateRequest', description: 'A new local account.' })

const AccountPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    email: z.email().max(254).nullable().optional().describe('E-mail address of the person; null for none'),
    disabled: z
      .boolean()
      .optional()
      .describe('A disabled account cannot sign in; its sessions end at once, and its API tokens stop working'),
    reset_password: z.literal(true).optional().describe('Answers with a new one-time password'),
    reset_second_factors: z.literal(true).optional().describe('Deletes passkeys and authenticator apps'),
  })
  .meta({ id: 'LocalAccountPatchRequest', description: 'Members of a local account to change.' })

const Account = z
  .object({
    id: OwnId,
    login: z.string().describe('What the person types to sign in'),
    display_name: ShownName,
    email: z.string().nullable().describe('E-mail address of the person; null for none'),
    domain_id: InDomain,
    user_id: Uuid.describe('The user that the account signs in as'),
    disabled: z.boolean().describe('Whether the account cannot sign in'),
    must_change_password: z.boolean().describe('Whether the next sign-in has to replace the one-time password'),
    second_factors: z.array(z.enum(['passkey', 'totp'])).describe('Kinds of the second factors that are set up'),
    last_sign_in_at: Instant.nullable().describe('When the person signed in last; null before the first time'),
    created_at: CreatedAt,
  })
  .meta({ id: 'LocalAccount', description: 'An account of the identity provider that is built into the server.' })

const OneTimePassword = Account.extend({
  one_time_password: z
    .string()
    .optional()
    .meta({ description: 'Shown only once; the first sign-in must replace it', 'x-service-write-once': true }),
}).meta({
  id: 'LocalAccountWithPassword',
  description: 'A local account; with a new one-time password, it is shown only here.',
})

const params = z.strictObject({ id: uuidField('invalid_account_id', 'Account') })
const columns = ['login', 'display_name', 'disabled', 'second_factors', 'last_sign_in_at', 'id']
const common = {
  credentials: OPERATOR,
  gate: check('manage', 'platform:main'),
  notProvisioned: 'bundled_provider_not_provisioned',
} as const

export const localAccounts = defineSurface('users', 'Accounts of the bundled identity provider', {
  PostAdminUsers: {
    ...common,
    method: 'POST',
    path: '/v1/admin/users',
    summary: 'Add a local account; answers with its one-time password',
    description:
      'The account belongs to the identity provider that is built into the server. The one-time password is in this answer alone; the first sign-in replaces it.',
    body: AccountCreateRequest,
    bodyBytesMax: 8 * KiB,
    audit: { relation: 'local_account.create', when: 'all' },
    dualControl: openedFor('Add the account {body.login} to domain:{body.domain_id}', 'access.admin'),
    responses: { 201: OneTimePassword },
    headers: { Location: 'Path of the new account' },
    problems: ['domain_not_found', 'account_already_exists'],
    cli: {
      command: 'admin users add',
      args: ['login'],
      refs: { domain_id: 'domains' },
      columns,
      handle: { member: 'login', taken: 'account_already_exists', noun: 'admin users' },
      done: 'Added {login}. The one-time password is shown this once; the first sign-in has to replace it.',
      examples: [
        'admin users add ana --display-name "Ana Novak"',
        'admin users add root2 --platform-admin --data-dir /var/lib/ctl',
      ],
    },
  },
  GetAdminUsers: {
    ...common,
    method: 'GET',
    path: '/v1/admin/users',
    summary: 'List the local accounts by login',
    description: 'Only accounts of the identity provider that is built into the server. Passwords are never shown.',
    query: z.strictObject(pageQuery),
    audit: { relation: 'local_account.list', when: 'all' },
    paging: { limit: 'rejected', cursor: 'operation' },
    responses: { 200: pageOf(Account).meta({ id: 'LocalAccountList', description: 'A page of local accounts.' }) },
    problems: [],
    cli: { command: 'admin users list', columns },
  },
  PatchAdminUserByID: {
    ...common,
    method: 'PATCH',
    path: '/v1/admin/users/{id}',
    summary: 'Change, disable or reset a local account',
    description:
      'Absent members stay as they are. A new one-time password is in this answer alone. The last administrator of the platform cannot be disabled.',
    params,
    body: AccountPatchRequest,
    patch: nonEmptyPatch(),
    bodyBytesMax: 8 * KiB,
    audit: { relation: 'local_account.update', when: 'all' },
    dualControl: openedFor('Change how {held.object} signs in', 'access.takeover'),
    responses: { 200: OneTimePassword },
    problems: ['account_not_found', 'account_already_exists', 'last_platform_admin'],
    cli: {
      command: 'admin users update',
      args: ['id'],
      refs: { id: 'admin users' },
      columns,
      done: 'Updated {login}.',
    },
  },
  DeleteAdminUserByID: {
    ...common,
    method: 'DELETE',
    path: '/v1/admin/users/{id}',
    summary: 'Delete a local account; the user that it signed in as stays, and nobody can sign in as it',
    description: 'The last administrator of the platform cannot be deleted.',
    params,
    audit: { relation: 'local_account.delete', when: 'all' },
    responses: { 204: null },
    problems: ['account_not_found', 'last_platform_admin'],
    cli: {
      command: 'admin users delete',
      args: ['id'],
      refs: { id: 'admin users' },
      confirm: 'yes',
      done: 'Deleted {id}.',
    },
  },
})
