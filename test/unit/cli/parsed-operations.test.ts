import { describe, expect, it } from 'vitest'
import type { Manifest, ManifestOperation } from '../../../src/shared/contract/manifest-format.ts'
import { manifestFilesOf, readManifest } from '../../../src/shared/contract/manifest-files.ts'
import { manifest as whole } from '../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const files = manifestFilesOf(whole)

/** The manifest as the build writes it, and the ids of the operations that are parsed. */
function recordedManifest(): { readonly manifest: Manifest; readonly parsed: readonly string[] } {
  const parsed: string[] = []
  const read = (from: number, to: number): string => {
    const text = files.manifest.slice(from, to)
    parsed.push((JSON.parse(text) as ManifestOperation).id)
    return text
  }
  return { manifest: readManifest({ index: files.index, read }), parsed }
}

describe('Of the contract, a command parses no more than it needs:', () => {
  const cli = useStubbedCli()

  it.each([
    ['--help', []],
    ['nodes --help', []],
    ['whoami', ['GetAuthWhoami']],
    ['api /nodes', ['ListNodes']],
    ['nodes list', ['ListNodes', 'ListDomains']],
  ])('%s', async (line, operations) => {
    const { manifest, parsed } = recordedManifest()
    const routes = {
      'GET /v1/auth/whoami': { body: { subject: 'user:alice', kind: 'user' } },
      'GET /v1/nodes': { body: { items: [], next_cursor: null } },
    }
    const { exitCode } = await cli.run(line, routes, { manifest })
    expect([exitCode, parsed]).toEqual([0, operations])
  })
})
