import { rotatingFleet } from '../support/fleet/rotating-fleet.ts'
import { refused, type StubRoutes } from '../support/cli/stub-server.ts'

const SIGNER = 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v'

const release = (version: string, more: Readonly<Record<string, unknown>> = {}) => ({
  version,
  support_status: 'supported',
  verdict: 'verified',
  architectures: [
    { architecture: 'aarch64', checksum: 'ab'.repeat(32) },
    { architecture: 'x86_64', checksum: 'cd'.repeat(32) },
  ],
  signed_by: `${SIGNER}${version}`,
  ...more,
})

/** One that is not verified, the one to run, one that is going out of support, and one that must not be installed. */
const RELEASES = [
  release('1.6.0-rc.1', {
    verdict: 'unverified',
    verdict_reason: 'x86_64: the certificate names another identity.',
    signed_by: undefined,
  }),
  release('1.5.0'),
  release('1.4.0', { support_status: 'deprecated' }),
  release('1.3.0', {
    support_status: 'withdrawn',
    architectures: [{ architecture: 'x86_64', checksum: 'ef'.repeat(32) }],
  }),
]

const UNKNOWN = refused(404, 'release_not_found', 'No such release exists, or you may not see it.')
const at = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-01-31T12:00:00.000Z' }

/** Four releases, and four nodes: one behind, one current, one ahead, one that has not said what it runs. */
export function releasesFleet(): { readonly routes: StubRoutes } {
  const runs: Readonly<Record<string, string | null>> = {
    'web-1': '1.5.0',
    'web-2': '1.4.0',
    'db-1': '1.6.0-rc.1',
    'new-1': null,
  }
  const { routes } = rotatingFleet(Object.keys(runs), ({ nodes }) =>
    nodes.forEach((node) => Object.assign(node, { binary_version: runs[node.display_name] })),
  )
  const shown = RELEASES.map((one) => [`GET /v1/artifacts/plexd/${one.version}`, { body: one }] as const)
  return {
    routes: {
      ...routes,
      ...Object.fromEntries(shown),
      'GET /v1/artifacts/plexd': { body: { items: RELEASES.map((one) => ({ ...one, ...at })) } },
      'GET /v1/artifacts/plexd/9.9.9': UNKNOWN,
      'GET /v1/artifacts/plexd/9.9.9/sigstore': UNKNOWN,
      'GET /v1/artifacts/plexd/1.5.0/sigstore': {
        headers: { 'content-type': 'application/octet-stream' },
        body: '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}\n',
      },
    },
  }
}
