import { z } from 'zod'
import { clampedPageQuery, Instant } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

/** S1 Release registry: both closed enums. */
export const SupportStatus = z.enum(['supported', 'deprecated', 'withdrawn'])
export const ReleaseVerdict = z.enum(['verified', 'unverified'])

const PlexdArtifactArch = z
  .object({
    architecture: z.string(),
    checksum: z.string().meta({
      description: 'SHA-256 of the agent binary as 64 hex digits',
      pattern: '^[0-9a-f]{64}$',
    }),
  })
  .meta({ id: 'PlexdArtifactArch' })

const artifact = {
  version: z.string().min(1).describe('Semantic version'),
  support_status: SupportStatus.describe('A withdrawn release is no target of an upgrade'),
  verdict: ReleaseVerdict.describe('Whether the attestations of all architectures were verified'),
  architectures: z.array(PlexdArtifactArch).min(1).describe('By architecture'),
  verdict_reason: z.string().optional().describe('Why it is not verified; absent where it is'),
  signed_by: z.string().optional().describe('The identity in its signing certificate; absent unless verified'),
}

const PlexdArtifact = z.object(artifact).meta({ id: 'PlexdArtifact' })

const PlexdArtifactRef = z
  .object({ ...artifact, created_at: Instant, updated_at: Instant })
  .meta({ id: 'PlexdArtifactRef' })

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
    nouns: { artifacts: { section: 'Fleet', position: 9 } },
  },
  {
    ListPlexdArtifacts: {
      method: 'GET',
      path: '/v1/artifacts/plexd',
      summary: 'List the releases of the node agent, newest first',
      credentials: OPERATOR,
      query: z.strictObject(clampedPageQuery),
      gate: platform,
      audit: { relation: 'plexd_artifact.list', when: 'all' },
      paging: { limit: 'clamped', cursor: 'caller' },
      responses: {
        200: z
          .object({ items: z.array(PlexdArtifactRef), next_cursor: z.string().optional() })
          .meta({ id: 'PlexdArtifactRefList' }),
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
