import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { clampedPageQuery, CreatedAt, UpdatedAt } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

/** S1 Release registry: both closed enums. */
export const SupportStatus = z.enum(['supported', 'deprecated', 'withdrawn'])
export const ReleaseVerdict = z.enum(['verified', 'unverified'])

const PlexdArtifactArch = z
  .object({
    architecture: z.string().describe('Architecture of the machine, such as amd64'),
    checksum: z.string().meta({
      description: 'SHA-256 of the agent binary as 64 hex digits',
      pattern: '^[0-9a-f]{64}$',
    }),
  })
  .meta({ id: 'PlexdArtifactArch', description: 'The binary of a release for one architecture.' })

const artifact = {
  version: z.string().min(1).describe('Semantic version'),
  support_status: SupportStatus.describe('A withdrawn release is no target of an upgrade'),
  verdict: ReleaseVerdict.describe('Whether the attestations of all architectures were verified'),
  architectures: z.array(PlexdArtifactArch).min(1).describe('By architecture'),
  verdict_reason: z.string().optional().describe('Why it is not verified; absent where it is'),
  signed_by: z.string().optional().describe('The identity in its signing certificate; absent unless verified'),
}

const PlexdArtifact = z.object(artifact).meta({ id: 'PlexdArtifact', description: 'A release of the node agent.' })

const PlexdArtifactRef = z
  .object({ ...artifact, created_at: CreatedAt, updated_at: UpdatedAt })
  .meta({ id: 'PlexdArtifactRef', description: 'A release of the node agent, with its times.' })

/** Whether it is a Semantic Version is judged by the handler: a malformed one is unknown (S1 Registry). */
const params = z.strictObject({ version: z.string().describe('Semantic version of the release') })
const platform = check('read', 'platform:main')
/** Nodes read what they are asked to install; others do not learn which versions there are. */
const perVersion = {
  credentials: [...OPERATOR, 'nsk'],
  params,
  gate: { ...platform, skipFor: ['nsk'], fold: 'release_not_found' },
  problems: ['release_not_found'],
  notProvisioned: 'artifacts_not_provisioned',
} as const
const columns = ['version', 'support_status', 'verdict', 'architectures', 'created_at']

export const artifacts = defineSurface(
  'artifacts',
  {
    summary: 'Releases of the node agent, with their attestations',
    nouns: {
      artifacts: {
        section: 'Fleet',
        position: 9,
        files: runtime('Releases come from the release source of the server'),
      },
    },
  },
  {
    ListPlexdArtifacts: {
      method: 'GET',
      path: '/v1/artifacts/plexd',
      summary: 'List the releases of the node agent, newest first',
      description: 'Withdrawn and unverified releases are among them.',
      credentials: OPERATOR,
      query: z.strictObject(clampedPageQuery),
      gate: platform,
      audit: { relation: 'plexd_artifact.list', when: 'all' },
      paging: { limit: 'clamped', cursor: 'caller' },
      responses: {
        200: z
          .object({
            items: z.array(PlexdArtifactRef).describe('The releases of this page'),
            next_cursor: z.string().optional().describe('`cursor` of the next page; absent at the end of the list'),
          })
          .meta({ id: 'PlexdArtifactRefList', description: 'A page of releases.' }),
      },
      problems: [],
      notProvisioned: 'artifacts_not_provisioned',
      cli: { command: 'artifacts list', columns, wide: ['signed_by', 'verdict_reason', 'updated_at'] },
    },
    GetPlexdArtifact: {
      ...perVersion,
      method: 'GET',
      path: '/v1/artifacts/plexd/{version}',
      summary: 'Show a release of the node agent',
      description: 'A node reads here the checksum of the binary that it is asked to install.',
      audit: { relation: 'plexd_artifact.get', when: 'all' },
      responses: { 200: PlexdArtifact },
      cli: { command: 'artifacts show', args: ['version'], columns },
    },
    GetPlexdArtifactSignature: {
      ...perVersion,
      method: 'GET',
      path: '/v1/artifacts/plexd/{version}/sigstore',
      summary: 'Fetch the attestation of a release',
      description: 'The Sigstore bundle of its first architecture in the order of their names, unchanged.',
      audit: { relation: 'plexd_artifact.signature', when: 'all' },
      responses: { 200: { media: 'application/octet-stream', describe: 'A Sigstore bundle' } },
      cli: { command: 'artifacts sigstore', args: ['version'] },
    },
  },
)
