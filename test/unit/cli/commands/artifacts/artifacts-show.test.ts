import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const CHECKSUM = 'ab'.repeat(32)
const RELEASE = {
  version: '1.5.0',
  support_status: 'withdrawn',
  verdict: 'verified',
  architectures: [{ architecture: 'x86_64', checksum: CHECKSUM }],
  signed_by: `https://builder.example/${'long/'.repeat(30)}release`,
}

describe('ctl artifacts show', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const show = (release: object, flags = '', options = {}) =>
    cli.run(`artifacts show 1.5.0 ${flags}`, { 'GET /v1/artifacts/plexd/1.5.0': { body: release } }, options)

  it('cuts neither checksums nor the signer on a narrow terminal', async () => {
    const { stdout } = await show(RELEASE, '--no-color', { isTty: true, columns: 40 })
    expect(stdout).toContain(`\nx86_64        ${CHECKSUM}\n`)
    expect(stdout).toContain(`\nsigner   ${RELEASE.signed_by}\n`)
  })

  it.each(['json', 'yaml', 'name'])('leaves -o %s as the API answers it', async (format) => {
    const texts = { json: `${JSON.stringify(RELEASE, null, 2)}\n`, yaml: 'version: 1.5.0\n', name: '1.5.0\n' }
    const { exitCode, stdout } = await show(RELEASE, `-o ${format}`)
    expect([exitCode, stdout.startsWith(texts[format as keyof typeof texts])]).toEqual([0, true])
  })

  it('lets nothing that a certificate or an attestation says act on the terminal', async () => {
    const evil = '\u001B[2J\u202Ex'
    const architectures = [{ architecture: evil, checksum: evil }]
    const { stdout } = await show({ ...RELEASE, architectures, signed_by: evil, verdict_reason: evil, version: evil })
    expect(stdout).not.toContain('\u001B')
    expect(stdout).not.toContain('\u202E')
    expect(stdout).toContain('signer   \\u001b[2J\\u202ex\n')
  })
})
