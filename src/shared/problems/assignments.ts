import { invalid, row } from './row.ts'

/** Problems of lending: assignments of Clouds and of their credentials to Projects (S1 Errors, Credential assignments). */
export const ASSIGNMENTS_PROBLEMS = {
  invalid_credential_assignment_id: invalid(
    'Invalid credential assignment id',
    'The credential assignment id must be a UUID other than zero.',
  ),
  invalid_cloud_assignment_id: invalid(
    'Invalid Cloud assignment id',
    'The Cloud assignment id must be a UUID other than zero.',
  ),
  ambiguous_credential_target: invalid(
    'Ambiguous target',
    'The request names a credential and a Cloud; name one of them.',
  ),
  credential_assignment_not_found: row(404, 'Credential assignment not found', 'No such credential assignment exists.'),
  cloud_assignment_not_found: row(404, 'Cloud assignment not found', 'No such Cloud assignment exists.'),
  provider_config_not_found: row(
    404,
    'Provider configuration not found',
    'The Project may use no Cloud with this id: it has no approved assignment of it.',
  ),
  duplicate_live_assignment: row(
    409,
    'Already requested or lent',
    'The Project already has this assignment, or has requested it.',
  ),
  cloud_assignment_in_use: row<{ readonly counts: { readonly credential_assignments: number } }>(
    409,
    'Cloud assignment in use',
    'Credentials of the Cloud are lent to the Project, or requested; the counts say how many. Revoke them first, or all at once with cascade.',
  ),
  credential_not_assignable: row(
    422,
    'Credential not assignable',
    'The credential is suspended, revoked or expired, so that it cannot be lent.',
  ),
  cloud_not_usable_in_project: row(
    422,
    'Cloud not usable in the Project',
    'The Project has no approved assignment of the Cloud, or no such credential exists.',
  ),
  no_eligible_credential_for_cloud: row(
    422,
    'No eligible credential',
    'The Cloud has no active credential that could be lent.',
  ),
  cloud_assignments_not_provisioned: row(
    501,
    'Not provisioned',
    'Cloud assignments are not configured on this server.',
  ),
  credential_assignments_not_provisioned: row(
    501,
    'Not provisioned',
    'Credential assignments are not configured on this server.',
  ),
} as const
